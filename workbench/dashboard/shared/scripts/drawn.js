// Functions that all components share. What others wrote enters as text only.
const SVG = "http://www.w3.org/2000/svg"

// ``label`` is the element's name for screen readers.
export function element(kind, properties = {}, ...children) {
  const { label, ...own } = properties
  const made = Object.assign(document.createElement(kind), own)
  if (label) made.setAttribute("aria-label", label)
  made.append(...children)
  return made
}

export function shape(kind, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, kind)
  set(made, attributes)
  made.append(...children)
  return made
}

export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value)
  }
}

export function put(node, text) {
  if (node.textContent !== text) node.textContent = text
}

export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`

export const wide = (share) => `${(100 * share).toFixed(1)}%`
