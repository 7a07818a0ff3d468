# For type checkers: comarkov.evaluate is comarkov.costs.evaluation, see __init__.py.
from .costs.evaluation import *
