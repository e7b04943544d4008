// The runs in a table of Tabulator, whose script Panel puts into the page: it sorts, groups, chooses, and draws the rows that are
// seen. Cells are updated in place, so that no click is lost and the focus stays; what others wrote enters as text only.
const LEFT = ["run", "corpus", "engine", "state", "progress"]  // columns of texts; numbers stand at the right
const NONE = "–"

export function render({ model }) {
  const host = element("div", { label: "runs of the store", style: "visibility: hidden" }), empty = element("div", { className: "empty" }), root = element("div", { className: "wb-table" }, host, empty)
  let table = null, taking = false
  const said = (event, words) => { event.stopPropagation(); model.send_msg(words) }  // and chooses no row
  const parts = {
    drawn: ({ name, drawn }) => [element("button", {
      type: "button", className: "swatch", label: `draw ${name}`, ariaPressed: Boolean(drawn), style: `--colour: ${drawn || "transparent"}`,
      title: drawn ? "The run is drawn. Click to hide its curve." : "Click to draw the curve.", onclick: (event) => said(event, { draw: name }),
    })],
    run: ({ name, run: [label, small, why, ...tags] }) => [
      element("span", { className: "label" }, label, ...tags.map((tag) => element("button", {
        type: "button", className: "tag", label: `runs with the tag ${tag}`, textContent: tag, onclick: (event) => said(event, { find: `tag:"${tag}"` }),
      }))),
      element("span", { className: "name" }, element(model.topics ? "a" : "span", {
        href: `${model.topics}${encodeURIComponent(name)}`, title: "Its topics", textContent: name, onclick: (event) => event.stopPropagation(),
      }), small),
      element("span", { className: "why", textContent: why }),
    ],
    state: ({ state }) => [element("span", { className: `state ${state}`, textContent: state })],
    progress: ({ progress, numbers }) => [element("progress", { value: numbers.progress ?? 0, label: "share" }), element("span", { className: "share", textContent: progress })],
  }
  const cell_of = (run, field) => run[field] ?? run.settings[field] ?? null
  const value = (row, field) => { const run = row.getData(); return field in run.numbers ? run.numbers[field] : cell_of(run, field) }
  const column = ([field, title, headerTooltip]) => ({
    field, headerTooltip, cssClass: field, headerSortTristate: true, vertAlign: "middle", hozAlign: LEFT.includes(field) ? "left" : "right",
    headerHozAlign: LEFT.includes(field) ? "left" : "right", minWidth: { run: 180, progress: 150, corpus: 90, state: 96, left: 104 }[field] ?? 76,
    widthGrow: field === "run" ? 4 : 1,
    titleFormatter: () => element("button", { type: "button", className: "sort", textContent: title }),
    formatter: (cell) => element("div", {}, ...(parts[field]?.(cell.getData()) ?? [String(cell_of(cell.getData(), field) ?? "")])),
    sorter: (a, b, one, other, column, direction) => {
      const [x, y] = [value(one, field), value(other, field)]
      if (x === null || y === null) return ((x === null) - (y === null)) * (direction === "asc" ? 1 : -1)  // what has none comes last
      return typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(y, undefined, { numeric: true })
    },
  })
  const columns = () => [
    { ...fixed, formatter: "rowSelection", titleFormatter: () => all },
    { ...fixed, field: "drawn", title: "Drawn", width: 60, formatter: (cell) => parts.drawn(cell.getData())[0] }, ...model.heads.map(column),
  ]
  const fixed = { headerSort: false, width: 40, hozAlign: "center", vertAlign: "middle", resizable: false }
  const grouping = () => model.group && ((run) => `${model.settings[model.group] ?? model.group} = ${run.settings[model.group] ?? run[model.group] ?? NONE}`)
  const finding = ({ name }) => !model.found || model.found.includes(name)
  const sorting = () => model.sort ? [{ column: model.sort.replace("-", ""), dir: model.sort.startsWith("-") ? "desc" : "asc" }] : []
  const box = (label, runs) => element("input", { type: "checkbox", label, onclick: (event) => event.stopPropagation(),
    onchange: ({ target }) => table[target.checked ? "selectRow" : "deselectRow"](runs().map(({ name }) => name)) })
  const all = box("choose all runs that are found", () => table.getData("active"))
  all.title = "The buttons act on the runs that are chosen, and their curves stand out."
  const head = (title, count, data) => {
    const made = element("span", { role: "gridcell" }, box(`choose the runs of ${title}`, () => data),
      element("button", { type: "button", className: "fold" }, `${title} · ${count === 1 ? "1 run" : `${count} runs`}`))
    queueMicrotask(() => { made.parentNode.role = "row" })
    return made
  }
  const mark = () => { all.checked = table.getRows("active").length > 0 && table.getRows("active").every((row) => row.isSelected()) }
  const chosen = () => table.getSelectedData().map(({ name }) => name)
  function choose() {
    taking = true
    table.deselectRow()
    table.selectRow(model.chosen.filter((name) => table.getRow(name)))
    taking = false
    mark()
  }
  const names = (rows) => String(rows.map(({ name }) => name))
  let renewed = Promise.resolve()
  const renew = (anew = false) => renewed = renewed.then(async () => {  // one by one, and the same runs in place: no click is lost
    host.hidden = !model.rows.length
    taking = true
    const others = anew || !model.rows.length || names(table.getData()) !== names(model.rows)
    await table[others ? "replaceData" : "updateData"](model.rows)
    choose()
  }).catch(() => { taking = false })  // a row went away meanwhile; the rows that follow are on their way
  const built = new Promise((done) => model.on("after_render", () => {
    table = new Tabulator(host, {
      index: "name", data: model.rows, columns: columns(), layout: "fitColumns", maxHeight: 520, nestedFieldSeparator: false, selectableRows: true,
      groupBy: grouping(), groupHeader: head, groupToggleElement: "header", initialFilter: finding, initialSort: sorting(),
      placeholder: "No run is found. Take a word out of the search, or clear it to see all runs.",
      rowFormatter: (row) => {
        row.getElement().dataset.run = row.getIndex()
        row.getElement().querySelector("input").setAttribute("aria-label", `choose ${row.getIndex()}`)
      },
    })
    table.on("rowSelectionChanged", () => { if (!taking) { model.chosen = chosen(); mark() } })
    table.on("dataSorted", ([by]) => { model.sort = by ? (by.dir === "desc" ? "-" : "") + by.field : "" })
    table.on("tableBuilt", done)
  }))
  const tell = () => { empty.hidden = model.rows.length; put(empty, model.empty) }
  const on = (name, act) => model.on(name, () => { built.then(act) })
  on("rows", () => { tell(); renew() }); on("empty", tell)
  let heard = 0
  model.on("news", () => { const { number, rows } = JSON.parse(model.news); heard = number; built.then(() => table.updateData(rows)) })  // each of them
  on("chosen", () => { if (String(model.chosen) !== String(chosen())) choose() })
  on("found", () => { table.setFilter(finding); mark() }); on("heads", () => table.setColumns(columns())); on("group", () => table.setGroupBy(grouping()))
  built.then(() => {
    host.querySelector(".tabulator-tableholder").removeAttribute("tabindex")  // what scrolls has controls; a grid may own rows alone
    tell()
    renew(true).then(() => { host.style.visibility = "" })  // rows that are drawn again lose a click
    if (model.news && JSON.parse(model.news).number > heard) model.send_msg({ again: true })  // news came before this listened
  })
  return root
}
