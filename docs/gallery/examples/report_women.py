"""Two circles of friends

18 women and the 14 events that they went to.
"""

from comarkov import CoClustering, Data, Results, datasets

women = datasets.load("southern-women")
names = women.row_names, women.column_names, "woman", "event", "Southern Women"
women = Data(women.matrix, *names)
model = CoClustering((2, 3), random_state=0).fit(women)
results = Results.of(model, women)
