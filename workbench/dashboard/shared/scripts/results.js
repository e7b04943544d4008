// What settings have to do with a result, over the runs that the table has found: a point for each run against one setting, means
// with standard errors of runs that differ in seed and split alone; or, for several settings, a line for each run.
const HEIGHT = 320, TOP = 14, BOTTOM = 46, RIGHT = 18, LEAST = 64, MOST_PLACES = 12
const REPEATED = ["seed", "split"]

export function render({ model }) {
  const settings = chooser("Settings", "Settings to draw", (names) => { model.settings = names })
  const result = element("select", { label: "Result", onchange: () => { model.result = result.value } },
    ...Object.entries(model.results).map(([value, name]) => element("option", { value, textContent: name })))
  const legend = element("p", { className: "legend" }), said = element("p", { className: "hint", role: "status" })
  const plot = shape("svg", { role: "img" })
  const tools = element("div", { className: "tools" }, settings.button, settings.menu, element("label", {}, "Result ", result))
  const root = element("div", { className: "wb-results" }, tools, legend, plot, said)
  let runs = [], width = 0

  const called = (name) => model.results[name] ?? model.titles[name] ?? name
  const value_of = (run) => run.numbers[model.result] ?? null
  const told = (number) => number.toLocaleString("en", { maximumSignificantDigits: 5 })

  // The settings in which the runs differ; engine stands first.
  function differing() {
    const held = new Map()
    for (const run of runs) {
      for (const [name, value] of Object.entries({ engine: run.engine, corpus: run.corpus, ...run.settings })) {
        held.set(name, (held.get(name) ?? new Set()).add(String(value)))
      }
    }
    return [...held].filter(([, values]) => values.size > 1).map(([name]) => name)
  }

  // Those that are chosen; else the first in which the runs differ that is no repetition, an engine last.
  function chosen(names) {
    const wanted = model.settings.filter((name) => names.includes(name))
    const usual = [...names.filter((name) => ![...REPEATED, "engine", "corpus"].includes(name)), ...names]
    return wanted.length ? wanted : usual.slice(0, 1)
  }

  // The places of an axis: (value → share of its length), and its ticks. Few values stand at even distances.
  function axis_of(own, value_of, even) {
    const values = [...new Set(own.map(value_of))].filter((value) => value !== null)
    values.sort((one, other) => typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other)))
    const numbers = values.every((value) => Number.isFinite(value))
    if (even && (!numbers || values.length <= MOST_PLACES)) {
      const place = new Map(values.map((value, at) => [value, (at + 0.5) / values.length]))
      const every = Math.ceil(values.length / MOST_PLACES)
      return { even, place: (value) => place.get(value), ticks: values.filter((_, at) => at % every === 0).map((value) => [place.get(value), short(value)]) }
    }
    const low = Math.min(...values), high = Math.max(...values), room = 0.05 * (high - low || Math.abs(high) || 1)
    const place = (value) => (value - low + room) / (high - low + 2 * room)
    return { place, ticks: steps(low, high).map((value) => [place(value), told(value)]) }
  }

  const short = (value) => typeof value === "number" && value !== Infinity ? told(value) : value === Infinity ? "∞" : String(value)

  function steps(low, high) {
    const rough = (high - low || Math.abs(high) || 1) / 5, power = 10 ** Math.floor(Math.log10(rough))
    const step = power * [1, 2, 5, 10].find((one) => one * power >= rough)
    const found = []
    for (let at = Math.ceil(low / step); at * step <= high + 1e-9 * step && found.length < 12; at++) found.push(at * step)
    return found.length ? found : [low]
  }

  const name_of = (run) => shape("title", {}, `${run.name} · ${run.label} · ${called(model.result)} ${told(value_of(run))}`)
  const text = (x, y, words, anchor = "middle", kind = "tick") => shape("text", { x, y, "text-anchor": anchor, class: kind }, words)

  function draw() {
    const names = differing(), wanted = chosen(names), own = runs.filter((run) => value_of(run) !== null
      && wanted.every((name) => setting_of(run, name) !== undefined))
    settings.offer(Object.fromEntries(names.map((name) => [name, called(name)])), wanted)
    result.value = model.result
    root.classList.toggle("none", !own.length || !wanted.length)
    put(said, !names.length ? "Runs that differ in a setting are compared here." : !own.length ? "No run of the table has this result yet."
      : wanted.length > 1 ? "A line for each run of the table, through its settings to its result."
        : "A point for each run of the table. Rings are means over runs that differ in seed and split alone, with one standard error.")
    if (!own.length || !wanted.length) { plot.replaceChildren(); legend.replaceChildren(); return }
    const engines = new Map(own.map((run) => [run.engine, run.colour]))
    legend.replaceChildren(...[...engines].map(([engine, colour]) => {
      const dot = element("span", { className: "dot" })
      dot.style.background = colour
      return element("span", {}, dot, engine)
    }))
    width = Math.max(260, root.clientWidth || 600)
    set(plot, { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT,
      "aria-label": `${called(model.result)} against ${wanted.map(called).join(", ")}, ${own.length} runs` })
    plot.replaceChildren(...(wanted.length > 1 ? lines(own, wanted) : points(own, wanted[0], names)))
  }

  function points(own, setting, names) {
    const held = by_setting(own, setting), across = axis_of(own, held, true), up = axis_of(own, value_of, false)
    // Engines stand beside each other where values have places of their own.
    const engines = [...new Set(own.map((run) => run.engine))], beside = across.even ? Math.min(11, (width - LEAST - RIGHT) / across.ticks.length / (engines.length + 1)) : 0
    const x = (run) => LEAST + across.place(held(run)) * (width - LEAST - RIGHT) + beside * (engines.indexOf(run.engine) - (engines.length - 1) / 2)
    const y = (value) => HEIGHT - BOTTOM - up.place(value) * (HEIGHT - TOP - BOTTOM)
    const parts = []
    for (const [share, words] of up.ticks) {
      const at = HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
      parts.push(shape("path", { d: `M${LEAST},${at}H${width - RIGHT}`, class: "grid" }), text(LEAST - 8, at + 4, words, "end"))
    }
    const room = (width - LEAST - RIGHT) / across.ticks.length / 6.5
    for (const [share, words] of across.ticks) {
      parts.push(text(LEAST + share * (width - LEAST - RIGHT), HEIGHT - BOTTOM + 18, words.length > room ? `${words.slice(0, Math.max(2, room - 1))}…` : words))
    }
    parts.push(text((LEAST + width - RIGHT) / 2, HEIGHT - 8, called(setting), "middle", "axis"),
      shape("text", { transform: `translate(13 ${(HEIGHT - BOTTOM + TOP) / 2}) rotate(-90)`, "text-anchor": "middle", class: "axis" }, called(model.result)))
    const apart = names.filter((name) => ![...REPEATED, setting].includes(name)), groups = new Map()
    for (const run of own) {
      const series = JSON.stringify(apart.map((name) => setting_of(run, name) ?? null)), places = groups.get(series) ?? new Map()
      places.set(held(run), [...(places.get(held(run)) ?? []), run])
      groups.set(series, places)
    }
    for (const places of groups.values()) {
      const means = [...places.values()].map((of) => {
        const numbers = of.map(value_of), mean = numbers.reduce((sum, one) => sum + one, 0) / numbers.length
        const spread = numbers.reduce((sum, one) => sum + (one - mean) ** 2, 0)
        return { of, at: x(of[0]), mean, error: numbers.length > 1 ? Math.sqrt(spread / (numbers.length - 1) / numbers.length) : 0 }
      }).sort((one, other) => one.at - other.at)
      const { colour } = means[0].of[0]
      if (means.length > 1) parts.push(shape("path", { d: `M${means.map(({ at, mean }) => `${at},${y(mean)}`).join("L")}`, class: "course", style: `stroke: ${colour}` }))
      for (const { of, at, mean, error } of means.filter((one) => one.of.length > 1)) {
        parts.push(shape("path", { d: `M${at},${y(mean - error)}V${y(mean + error)}`, class: "error", style: `stroke: ${colour}` }),
          shape("circle", { cx: at, cy: y(mean), r: 6.5, class: "mean", style: `stroke: ${colour}` },
            shape("title", {}, `${of[0].label}: mean of ${of.length} runs ${told(mean)}, standard error ${told(error)}`)))
      }
    }
    for (const run of own) {
      parts.push(shape("circle", { cx: x(run), cy: y(value_of(run)), r: 4, class: "run", style: `fill: ${run.colour}`, "data-run": run.name }, name_of(run)))
    }
    return parts
  }

  function lines(own, wanted) {
    const axes = [...wanted.map((name) => [called(name), by_setting(own, name), true]), [called(model.result), value_of, false]]
    const left = 40, gap = (width - 2 * left) / (axes.length - 1), y = (share) => HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    const parts = [], places = axes.map(([title, held, even], at) => {
      const axis = axis_of(own, held, even), x = left + at * gap, last = at === axes.length - 1
      parts.push(shape("path", { d: `M${x},${TOP}V${HEIGHT - BOTTOM}`, class: "grid strong" }), text(x, HEIGHT - BOTTOM + 22, title, at === 0 ? "start" : last ? "end" : "middle", "axis"))
      for (const [share, words] of axis.ticks) parts.push(text(x + (last ? -6 : 6), y(share) - 4, words.length > 14 ? `${words.slice(0, 13)}…` : words, last ? "end" : "start"))
      return (run) => `${x},${y(axis.place(held(run)))}`
    })
    const drawn = own.map((run) => shape("path", { d: `M${places.map((place) => place(run)).join("L")}`, class: "run line", style: `stroke: ${run.colour}`, "data-run": run.name }, name_of(run)))
    return [...drawn, ...parts]
  }

  let waiting = false
  const soon = () => {
    if (!waiting) requestAnimationFrame(() => { waiting = false; draw() })
    waiting = true
  }
  document.addEventListener("wb-runs", ({ detail }) => { runs = detail; soon() })
  for (const name of ["settings", "result", "titles"]) model.on(name, soon)
  new ResizeObserver(() => { if (root.clientWidth && Math.abs(root.clientWidth - width) > 4) soon() }).observe(root)
  draw()
  document.dispatchEvent(new CustomEvent("wb-runs-wanted"))
  return root
}
