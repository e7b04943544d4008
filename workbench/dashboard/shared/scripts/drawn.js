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

// Rows by a value, a number or a text, from the largest on if ``down``; what has none (null) comes last either way.
export function sorted(rows, value, down) {
  return rows.map((row) => [value(row), row]).sort(([one], [other]) => {
    if (one === null || other === null) return (one === null) - (other === null)
    const order = typeof one === "string" ? one.localeCompare(other, undefined, { numeric: true }) : one - other
    return down ? -order : order
  }).map(([, row]) => row)
}

// Choosing what is chosen already chooses nothing (-1).
export const choose = (model, one) => { model.chosen = one === model.chosen ? -1 : one }

// A bar as wide as a share of its track.
export function track(share) {
  const bar = element("span", { className: "bar" })
  bar.style.width = wide(share)
  return element("span", { className: "track" }, bar)
}

// A button that opens a menu of ticks, and the menu, empty while it is closed; ``offer`` has name → title and which are ticked.
export function chooser(text, label, choose) {
  const menu = element("div", { className: "menu", popover: "auto", label, role: "group" })
  const button = element("button", { type: "button", className: "chooser", textContent: text, popoverTargetElement: menu })
  let boxes = [], said = "", titles = {}, ticked = []
  menu.onbeforetoggle = ({ newState }) => { if (newState === "open") fill() }
  menu.ontoggle = ({ newState }) => {
    if (newState !== "open") { said = ""; menu.replaceChildren(); return }
    const { left, top, bottom } = button.getBoundingClientRect(), { offsetWidth: wide, offsetHeight: high } = menu
    const down = bottom + 4 + high <= innerHeight - 8 ? bottom + 4 : Math.max(8, Math.min(top - high - 4, innerHeight - high - 8))
    Object.assign(menu.style, { left: `${Math.max(8, Math.min(left, innerWidth - wide - 8))}px`, top: `${down}px` })
  }
  function fill() {
    if (said !== (said = JSON.stringify(titles))) {
      const onchange = () => choose(boxes.filter((one) => one.checked).map((one) => one.value))
      boxes = Object.keys(titles).map((value) => element("input", { type: "checkbox", value, onchange }))
      menu.replaceChildren(...boxes.map((box) => element("label", {}, box, element("span", { textContent: titles[box.value] }))))
    }
    for (const box of boxes) box.checked = ticked.includes(box.value)
  }
  const offer = (...given) => {
    [titles, ticked] = given
    if (menu.matches(":popover-open")) fill()
  }
  return { button, menu, offer }
}

export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`

export const wide = (share) => `${(100 * share).toFixed(1)}%`
