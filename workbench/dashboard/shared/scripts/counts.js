// A small table of counts: its cells are inputs that stay in place while their numbers change; buttons add and take away lines.
export function render({ model }) {
  const head = element("tr"), body = element("tbody"), wrong = element("p", { className: "bad", role: "status", id: "counts-wrong" })
  const table = element("table", { label: "counts" }, element("thead", {}, head), body)
  const press = (text, rows, columns) => element("button", { type: "button", textContent: text, onclick: () => resize(rows, columns) })
  const buttons = [press("+ document", 1, 0), press("− document", -1, 0), press("+ word", 0, 1), press("− word", 0, -1)]
  const root = element("div", { className: "wb-counts" }, table, element("div", { className: "sizes" }, ...buttons), wrong)

  const size = () => [model.cells.length, model.cells[0].length]

  function resize(rows, columns) {
    const [n, m] = size()
    model.send_msg({ size: [n + rows, m + columns] })
  }

  function cell(row, column) {
    const input = element("input", { type: "text", inputMode: "numeric", autocomplete: "off", label: `document ${row + 1}, word ${column + 1}` })
    input.onchange = () => model.send_msg({ row, column, text: input.value })
    return element("td", {}, input)
  }

  // A number from Python; what was typed since the last one stays, as Python's answer to another cell may come meanwhile.
  function take(input, text) {
    if (input.value === (input.known ?? input.value)) input.value = text
    input.known = text
  }

  function draw() {
    const [n, m] = size(), made = [body.rows.length, body.rows.length ? body.rows[0].cells.length - 1 : 0]
    if (n !== made[0] || m !== made[1]) {
      head.replaceChildren(element("td"), ...model.cells[0].map((_, at) => element("th", { scope: "col", textContent: `word ${at + 1}` })))
      body.replaceChildren(...model.cells.map((cells, row) => element("tr", {},
        element("th", { scope: "row", textContent: `document ${row + 1}` }), ...cells.map((_, column) => cell(row, column)))))
    }
    model.cells.forEach((cells, row) => cells.forEach((text, column) => take(body.rows[row].cells[column + 1].firstChild, text)))
    const [most_rows, most_columns] = model.most
    const ends = [n >= most_rows, n <= 1, m >= most_columns, m <= 1]
    buttons.forEach((button, at) => { button.disabled = ends[at] })
    put(wrong, model.wrong)
    wrong.hidden = !model.wrong
    if (model.wrong) set(table, { "aria-invalid": "true", "aria-errormessage": wrong.id })
    else table.removeAttribute("aria-invalid")
  }

  model.on("cells", draw)
  model.on("wrong", draw)
  draw()
  return root
}
