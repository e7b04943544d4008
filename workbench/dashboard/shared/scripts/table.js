// Every run of the store, a row each. Cells are updated in place, so that nothing flickers and the focus stays;
// what others wrote enters as text only. Of many rows only those that are seen are drawn.
const TITLES = {
  run: "Run", tags: "Tags", corpus: "Corpus", K: "K", seed: "Seed", state: "State", progress: "Progress", perplexity: "Perplexity",
  time: "Time", left: "Time left",
}
const HINTS = { K: "The number of topics. Of an HDP those that have a token, and in brackets those asked for." }
const GROUPS = { "": "None", engine: "Engine", corpus: "Corpus" }
const LEFT = ["run", "tags", "corpus", "engine", "state", "progress"]  // columns of texts; numbers stand at the right
const LAZY = 60, HEIGHT = 50, BEYOND = 8  // lines from where on few are drawn; pixels of one then; lines drawn out of sight

export function render({ model }) {
  const runs = new Map(), drawn = new Map(), heads = new Map(), closed = new Set()
  let found = [], listed = [], asked = model.query, typing
  const search = element("input", {
    type: "search", label: "Find runs", value: model.query, placeholder: "Find: words, engine:cgs k:10 state:running tag:paper r:1",
    title: "Words stand anywhere in name, label, corpus, state, tags or note; engine: k: seed: state: corpus: tag: note: name: "
      + "and an option as r: ask for one of them; - before it takes those away",
    oninput: () => ask(search.value), onkeydown: (event) => { if (event.key === "Escape") ask("") },
  })
  const group = element("select", { label: "Group runs by", onchange: () => { model.group = group.value } })
  const columns = chooser("Columns", "Columns of the table", (names) => { model.columns = names })
  const said = element("span", { className: "said", role: "status" })
  const tools = element("div", { className: "tools" }, search, element("label", {}, "Group by ", group), columns.button, columns.menu, said)
  const all = element("input", { type: "checkbox", onchange: () => chooseAll(found, all.checked) })
  let shown = [], heading = {}
  const head = element("tr"), body = element("tbody")
  const [above, below] = [1, 2].map(() => element("tr", { className: "room", ariaHidden: "true" }, element("td")))
  const table = element("table", { label: "runs of the store" }, element("thead", {}, head), body)
  const empty = element("div", { className: "empty" }), nothing = element("div", { className: "empty" })
  const onscroll = () => { if (listed.length > LAZY) { draw(); mark() } }
  const scroller = element("div", { className: "scroller", onscroll }, table, nothing)
  const root = element("div", { className: "wb-table" }, tools, scroller, empty)

  const toggle = (list, name) => list.includes(name) ? list.filter((other) => other !== name) : [...list, name]
  const choose = (name) => { model.chosen = toggle(model.chosen, name) }
  const of = (head) => found.filter((run) => head_of(run, model.group) === head)
  const chooseAll = (own, chosen) => {
    const names = new Set(own.map((run) => run.name)), others = model.chosen.filter((name) => !names.has(name))
    model.chosen = chosen ? [...others, ...names] : others
  }

  function make(name) {
    const box = element("input", { type: "checkbox", label: `choose ${name}`, onchange: () => choose(name) })
    const swatch = element("button", { type: "button", className: "swatch", label: `draw ${name}` })
    swatch.onclick = () => model.send_msg({ draw: name })
    const cells = Object.fromEntries(shown.map((key) => [key, element("td", { className: kind(key) })]))
    const spans = ["label", "name", "why", "state", "bar", "share"].map((className) => element("span", { className }))
    const [label, small, why, state, bar, share] = spans
    cells.run.append(label, small, why)
    cells.state?.append(state)
    cells.progress?.append(element("span", { className: "track" }, bar), share)
    const first = [box, swatch].map((part) => element("td", { className: "narrow" }, part))
    const row = element("tr", {}, ...first, ...Object.values(cells))
    row.dataset.run = name
    row.onclick = (event) => { if (!event.target.closest("input, button") && !String(getSelection())) choose(name) }
    return { row, box, swatch, cells, label, small, why, state, bar, share }
  }

  function makeHead(name) {
    const turn = () => { closed[closed.has(name) ? "delete" : "add"](name); arrange() }
    const fold = element("button", { type: "button", className: "fold", onclick: turn }), box = element("input", {
      type: "checkbox", label: `choose the runs of ${name}`, onchange: () => chooseAll(of(name), box.checked),
    })
    const head = element("th", { colSpan: shown.length + 1, scope: "rowgroup" }, fold)
    return { row: element("tr", { className: "group" }, element("td", { className: "narrow" }, box), head), box, fold }
  }

  function fill(parts, run) {
    const { cells } = parts, small = [run.name, run.changes, run.learns, run.note].filter(Boolean).join(" · ")
    put(parts.label, run.label); put(parts.small, small); put(parts.why, run.why)
    if (cells.run.title !== small) cells.run.title = small
    put(parts.state, run.state); parts.state.className = `state ${run.state}`; parts.state.title = run.why
    parts.bar.style.width = `${run.share}%`; put(parts.share, run.progress)
    for (const key of shown) if (!["run", "tags", "state", "progress"].includes(key)) put(cells[key], String(run[key] ?? run.settings[key] ?? ""))
    if (cells.tags && cells.tags.dataset.tags !== String(run.tags)) {
      cells.tags.dataset.tags = run.tags
      cells.tags.replaceChildren(...run.tags.map((tag) => {
        const onclick = () => ask(`tag:"${tag}"`)
        return element("button", { type: "button", className: "tag", label: `runs with the tag ${tag}`, onclick }, tag)
      }))
    }
  }

  // Finds it at once; the link and the server get it when nothing more is typed.
  function ask(query) {
    if (search.value !== query) search.value = query
    asked = query; scroller.scrollTop = 0
    clearTimeout(typing); typing = setTimeout(() => { model.query = query }, 300)
    arrange()
  }

  function take(said) {
    for (const run of said) {
      const text = [run.name, run.label, run.corpus, run.state, run.changes, run.learns, run.note, ...run.tags].join(" ").toLowerCase()
      runs.set(run.name, { ...run, text })
    }
  }

  const titles = () => ({ ...TITLES, ...Object.fromEntries(Object.entries(model.settings).filter(([name]) => !(name in TITLES))) })
  const headed = (key) => {
    const title = group.selectedOptions[0]?.text
    return ["engine", "corpus"].includes(model.group) ? key : key === NONE ? `without ${title}` : `${title} = ${key}`
  }
  const kind = (name) => `${name in TITLES ? name : "setting"}${LEFT.includes(name) ? "" : " number"}`

  // The heads of the columns that are shown, and the menus of all that there are.
  function layout() {
    const all_titles = titles(), groups = { ...GROUPS, ...model.settings }
    shown = ["run", ...Object.keys(all_titles).filter((name) => name !== "run" && model.columns.includes(name))]
    heading = Object.fromEntries(shown.map((name) => {
      const onclick = () => { model.sort = { [name]: `-${name}`, [`-${name}`]: "" }[model.sort] ?? name }
      const sort = element("button", { type: "button", className: "sort", title: HINTS[name] || "", onclick }, all_titles[name])
      return [name, element("th", { className: kind(name), scope: "col" }, sort)]
    }))
    head.replaceChildren(element("th", { className: "narrow" }, all), element("th", { className: "narrow", textContent: "Drawn" }),
      ...Object.values(heading))
    for (const row of [above, below]) row.firstChild.colSpan = shown.length + 2
    drawn.clear(); heads.clear()
    const { run, ...others } = all_titles
    columns.offer(others, model.columns)
    if (model.group && !(model.group in groups)) groups[model.group] = model.group
    group.replaceChildren(...Object.entries(groups).map(([value, name]) => element("option", { value, textContent: name })))
    group.value = model.group
  }

  function arrange() {
    found = in_order(find([...runs.values()], asked), model.sort)
    listed = lines(found, model.group, closed)
    for (const [name, cell] of Object.entries(heading)) {
      cell.ariaSort = { [name]: "ascending", [`-${name}`]: "descending" }[model.sort] ?? "none"
    }
    table.classList.toggle("tagged", [...runs.values()].some((run) => run.tags.length))
    table.ariaRowCount = listed.length + 1
    root.classList.toggle("lazy", listed.length > LAZY)
    tools.hidden = scroller.hidden = !runs.size; empty.hidden = runs.size > 0; put(empty, model.empty)
    const odd = unknown([...runs.values()], asked)
    nothing.hidden = found.length > 0 && !odd
    put(nothing, odd || "No run is found. Take a word out of the search, or clear it to see all runs.")
    draw(); mark()
    const names = found.length < runs.size ? found.map((run) => run.name).sort() : []
    if (String(names) !== String(model.found)) model.found = names
  }

  // Puts the lines that are seen into the body; the rest is room above and below them.
  function draw() {
    const lazy = listed.length > LAZY, focus = root.getRootNode().activeElement
    const first = lazy ? Math.max(0, Math.floor(scroller.scrollTop / HEIGHT) - BEYOND) : 0
    const last = lazy ? Math.min(listed.length, first + Math.ceil((scroller.clientHeight || 600) / HEIGHT) + 2 * BEYOND) : listed.length
    const wanted = listed.slice(first, last).map((line, at) => {
      const [made, key, maker] = line.runs ? [heads, line.head, makeHead] : [drawn, line.name, make]
      if (!made.has(key)) made.set(key, maker(key))
      const parts = made.get(key)
      if (line.runs) {
        put(parts.fold, `${closed.has(key) ? "▸" : "▾"} ${headed(key)} · ${line.runs.length === 1 ? "1 run" : `${line.runs.length} runs`}`)
        parts.fold.ariaExpanded = !closed.has(key)
      } else fill(parts, line)
      parts.row.ariaRowIndex = first + at + 2
      return parts.row
    })
    above.firstChild.style.height = `${first * HEIGHT}px`; below.firstChild.style.height = `${(listed.length - last) * HEIGHT}px`
    const seen = [...(first ? [above] : []), ...wanted, ...(last < listed.length ? [below] : [])], kept = new Set(seen)
    for (const row of [...body.children]) if (!kept.has(row)) row.remove()
    seen.forEach((row, at) => { if (body.children[at] !== row) body.insertBefore(row, body.children[at] || null) })
    if (focus && focus !== root.getRootNode().activeElement && body.contains(focus)) focus.focus({ preventScroll: true })
  }

  function mark() {
    const chosen = new Set(model.chosen), count = (own) => own.filter((run) => chosen.has(run.name)).length
    const tick = (box, own) => {
      box.checked = own.length > 0 && count(own) === own.length
      box.indeterminate = !box.checked && count(own) > 0
    }
    for (const [name, parts] of drawn) {
      const colour = model.colours[name]
      parts.box.checked = chosen.has(name); parts.row.classList.toggle("chosen", parts.box.checked)
      parts.swatch.style.setProperty("--colour", colour || "transparent")
      parts.swatch.ariaPressed = Boolean(colour)
      parts.swatch.title = colour ? "The run is drawn. Click to hide its curve." : "Click to draw the curve."
    }
    for (const [name, { box }] of heads) tick(box, of(name))
    tick(all, found)
    const some = found.length < runs.size
    all.ariaLabel = some ? "choose all runs that are found" : "choose all runs"
    all.title = some ? "Choose all runs that are found, or none of them." : "Choose all runs, or none."
    const away = chosen.size - count(found)
    put(said, [
      some ? `${found.length} of ${runs.size} runs found` : runs.size === 1 ? "1 run" : `${runs.size} runs`,
      chosen.size ? `${chosen.size} chosen${away ? `, ${away} of them not among those found` : ""}` : "",
    ].filter(Boolean).join("; "))
  }

  function renew() {
    runs.clear(); take(model.rows)
    for (const name of drawn.keys()) if (!runs.has(name)) drawn.delete(name)
    arrange()
  }

  function refind() {
    if (search.value !== model.query) search.value = asked = model.query
    if (group.value !== model.group) layout()
    scroller.scrollTop = 0
    arrange()
  }

  model.on("rows", renew); model.on("news", () => { take(JSON.parse(model.news).rows); arrange() }); model.on("empty", arrange)
  model.on("query", () => { if (model.query !== asked) refind() }); model.on("sort", refind); model.on("group", refind)
  model.on("chosen", mark); model.on("colours", mark)
  for (const name of ["columns", "settings"]) model.on(name, () => { layout(); arrange() })
  layout(); renew(); refind()
  return root
}
