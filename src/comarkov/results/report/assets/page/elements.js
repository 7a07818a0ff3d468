// Elements of the page. What comes from the data is only ever text, never markup.

const byId = (id) => document.getElementById(id);

const newElement = (tag, attributes, ...children) =>
  filled(document.createElement(tag), attributes, children);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function newButton(text, onClick) {
  const button = newElement("button", { type: "button" }, text);
  button.addEventListener("click", onClick);
  return button;
}

// Text with its directional controls spelt out: inside a name they would turn what follows.
const visible = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g,
  (control) => `[U+${control.charCodeAt(0).toString(16).toUpperCase()}]`);

// A name that is isolated from the direction of the text around it, and that text from it.
const isolated = (name) => newElement("bdi", {}, name);

// A line of a tooltip or a note; its parts are texts and isolated names.
const textLine = (kind, ...parts) => ({ kind, parts });

// The same lines in one, with commas between them.
const joined = (lines) => lines.flatMap(({ parts }, i) => (i ? [", ", ...parts] : parts));
