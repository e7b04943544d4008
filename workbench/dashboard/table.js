// Every run of the store, a row each. Cells are updated in place, so that nothing flickers and the focus stays;
// what others wrote enters as text only.
const COLUMNS = ["run", "K", "seed", "state", "progress", "perplexity", "time", "left"]

function element(kind, properties = {}, ...children) {
  const made = Object.assign(document.createElement(kind), properties)
  made.append(...children)
  return made
}

function put(node, text) {
  if (node.textContent !== text) node.textContent = text
}

export function render({ model }) {
  const rows = new Map()
  const body = element("tbody")
  const all = element("input", { type: "checkbox", title: "choose all runs or none" })
  all.setAttribute("aria-label", "choose all runs")
  const titles = { run: "Run", K: "K", seed: "Seed", state: "State", progress: "Progress", perplexity: "Perplexity", time: "Time", left: "Left" }
  const hints = { K: "topics; of an HDP those that have a token, and in brackets those asked for" }
  const head = element("tr", {}, element("th", { className: "narrow" }, all), element("th", { className: "narrow", textContent: "Drawn" }),
    ...COLUMNS.map((name) => element("th", { className: name, textContent: titles[name], title: hints[name] || "" })))
  const table = element("table", {}, element("thead", {}, head), body)
  table.setAttribute("aria-label", "runs of the store")
  const empty = element("div", { className: "empty" })
  const root = element("div", { className: "wb-table" }, table, empty)

  const toggle = (list, name) => list.includes(name) ? list.filter((other) => other !== name) : [...list, name]
  const choose = (name) => { model.chosen = toggle(model.chosen, name) }
  const draw = (name) => { model.send_msg({ draw: name }) }

  function make(name) {
    const box = element("input", { type: "checkbox" })
    box.setAttribute("aria-label", `choose ${name}`)
    const swatch = element("button", { type: "button", className: "swatch" })
    swatch.setAttribute("aria-label", `draw ${name}`)
    const cells = Object.fromEntries(COLUMNS.map((key) => [key, element("td", { className: key })]))
    const label = element("span", { className: "label" }), small = element("span", { className: "name" })
    cells.run.append(label, small)
    const state = element("span", { className: "state" })
    cells.state.append(state)
    const bar = element("span", { className: "bar" }), share = element("span", { className: "share" })
    cells.progress.append(element("span", { className: "track" }, bar), share)
    const row = element("tr", {}, element("td", { className: "narrow" }, box), element("td", { className: "narrow" }, swatch), ...Object.values(cells))
    row.dataset.run = name
    box.addEventListener("change", () => choose(name))
    swatch.addEventListener("click", () => draw(name))
    row.addEventListener("click", (event) => { if (!event.target.closest("input, button") && !String(getSelection())) choose(name) })
    return { row, box, swatch, cells, label, small, state, bar, share }
  }

  function fill(parts, values) {
    put(parts.label, values.label); put(parts.small, [values.name, values.changes, values.learns].filter(Boolean).join(" · "))
    put(parts.state, values.state); parts.state.className = `state ${values.state}`; parts.state.title = values.message
    parts.bar.style.width = `${values.share}%`; put(parts.share, values.progress)
    for (const key of ["K", "seed", "perplexity", "time", "left"]) put(parts.cells[key], values[key])
  }

  function show() {
    const names = new Set(model.rows.map((values) => values.name))
    for (const [name, parts] of rows) if (!names.has(name)) { parts.row.remove(); rows.delete(name) }
    model.rows.forEach((values, at) => {
      if (!rows.has(values.name)) rows.set(values.name, make(values.name))
      const parts = rows.get(values.name)
      fill(parts, values)
      if (body.children[at] !== parts.row) body.insertBefore(parts.row, body.children[at] || null)
    })
    table.hidden = !rows.size; empty.hidden = rows.size > 0; put(empty, model.empty)
    mark()
  }

  function mark() {
    for (const [name, parts] of rows) {
      const chosen = model.chosen.includes(name), colour = model.colours[name]
      parts.box.checked = chosen; parts.row.classList.toggle("chosen", chosen)
      parts.swatch.style.setProperty("--colour", colour || "transparent")
      parts.swatch.setAttribute("aria-pressed", String(Boolean(colour)))
      parts.swatch.title = colour ? "drawn; click to hide the curve" : "click to draw the curve"
    }
    const n_chosen = [...rows.keys()].filter((name) => model.chosen.includes(name)).length
    all.checked = rows.size > 0 && n_chosen === rows.size; all.indeterminate = n_chosen > 0 && n_chosen < rows.size
  }

  all.addEventListener("change", () => { model.chosen = all.checked ? [...rows.keys()] : [] })
  model.on("rows", show); model.on("empty", show); model.on("chosen", mark); model.on("colours", mark)
  show()
  return root
}
