// What the cards of the Topics page have in common. What others wrote enters as text only.
const SVG = "http://www.w3.org/2000/svg"

export function element(kind, properties = {}, ...children) {
  const made = Object.assign(document.createElement(kind), properties)
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
