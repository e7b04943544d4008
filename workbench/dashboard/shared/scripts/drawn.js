// Functions that all components share. What others wrote enters as text only.

// ``label`` is the element's name for screen readers.
export function element(kind, properties = {}, ...children) {
  const { label, ...own } = properties
  const made = Object.assign(document.createElement(kind), own)
  if (label) made.setAttribute("aria-label", label)
  made.append(...children)
  return made
}

export function put(node, text) {
  if (node.textContent !== text) node.textContent = text
}
