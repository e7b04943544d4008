// Highlights a run (or the runs of a mean): in the figure by opacity, elsewhere by the class "lit".
// Bokeh's models are changed in the browser alone (sync: false).
const FADED = 0.13, NEAR = 12
const OPACITY = { band: "fill_alpha", raw: "line_alpha", line: "line_alpha" }

export function render({ model }) {
  const status = document.createElement("span")
  status.setAttribute("role", "status")
  status.style.cssText = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)"
  let held = null, over = null, lit = null, beside = false, plot = null, parts = null, focused = -1

  // ---- where things are
  const figure = () => (window.Bokeh?.documents ?? []).map((one) => one.get_model_by_name("curve")).find(Boolean) ?? null
  const roots = (node) => [...node.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean)
    .flatMap((root) => [root, ...roots(root)])
  const everywhere = (selector) => [document, ...roots(document)].flatMap((root) => [...root.querySelectorAll(selector)])
  const names_of = ({ dataset: { run, runs } }) => runs?.split("\n") ?? (run === undefined ? null : [run])

  // The number of an entry of the legend; -1 of anything else.
  const entry = (node) => node.classList?.contains("bk-item") && node.getRootNode().host?.classList.contains("bk-Legend")
    ? [...node.parentNode.children].indexOf(node) : -1

  function named(path) {
    for (const node of path) {
      const names = node.dataset && names_of(node), at = entry(node)
      if (names) return names
      if (at >= 0) return model.slots[at]?.length ? model.slots[at] : null
    }
    return null
  }

  // ---- what is highlighted
  const same = (one, other) => String(one) === String(other)
  const is_lit = (names) => Boolean(lit) && names.some((name) => lit.includes(name))
  function lift() {
    const wanted = over ?? held
    if (same(wanted, lit)) return
    lit = wanted
    paint()
    const at = model.slots.findIndex(is_lit)
    status.textContent = lit ? `${at >= 0 ? model.said[at] : lit.join(", ")} is highlighted; Escape ends it` : ""
    status.dataset.lit = lit ? lit.join(",") : ""
  }
  function paint() {
    if (plot) fade()
    for (const node of everywhere("[data-run],[data-runs]")) node.classList.toggle("lit", is_lit(names_of(node)))
  }
  function fade() {
    parts ??= plot.renderers.map(({ tags, glyph }) => [...(tags[0] ?? "").split("-"), glyph]).filter(([part]) => part in OPACITY)
      .map(([part, slot, glyph]) => ({ part, slot, glyph, opacity: glyph[OPACITY[part]]?.value ?? 1 }))
    const drawn = model.slots.some(is_lit)
    for (const { part, slot, glyph, opacity } of parts) {
      const own = drawn && is_lit(model.slots[slot]), changes = { [OPACITY[part]]: opacity * (own || !drawn ? 1 : FADED) }
      if (part === "line") changes.line_width = own ? 3.2 : 2.2
      glyph.setv(changes, { sync: false })
    }
  }

  // ---- the figure: the nearest curve to the pointer
  function nearest(event) {
    const { x_range, y_range } = plot
    const [x, y] = [plot.x_scale, plot.y_scale].map(({ type }) => type === "LogScale" ? Math.log : Number)
    const across = plot.inner_width / (x(x_range.end) - x(x_range.start)), up = plot.inner_height / (y(y_range.end) - y(y_range.start))
    let best = NEAR * NEAR, found = null
    for (const one of plot.renderers) {
      const [part, slot] = (one.tags[0] ?? "").split("-")
      if (part !== "line" || !one.visible) continue
      const { data } = one.data_source, xs = data[one.glyph.x.field].map(x), ys = data[one.glyph.y.field].map(y)
      for (let at = 0; at < xs.length; at++) {
        const x0 = (xs[at] - x(event.x)) * across, y0 = (ys[at] - y(event.y)) * up
        const next = Math.min(at + 1, xs.length - 1)
        const dx = (xs[next] - xs[at]) * across, dy = (ys[next] - ys[at]) * up
        const long = dx * dx + dy * dy
        const along = long > 0 ? Math.max(0, Math.min(1, -(x0 * dx + y0 * dy) / long)) : 0
        const away = (x0 + along * dx) ** 2 + (y0 + along * dy) ** 2
        if (away < best) { best = away; found = model.slots[slot] }
      }
    }
    return found?.length ? found : null
  }
  const hold = (names) => { held = names && !same(names, held) ? names : null; over = null; lift() }

  model.on("slots", () => { paint(); dress() })
  model.on("said", dress)

  // ---- the rest of the page. The page lies in nested shadow roots, where over, out and focus events end; these do not.
  const point = (names) => { if (!same(names, over)) { over = names; lift() } }
  const listeners = {
    pointermove: (event) => {
      const path = event.composedPath(), names = named(path)
      beside = Boolean(names)
      if (names || !path.some((node) => node.classList?.contains("bk-Figure"))) point(names)
    },
    "wb-figure": ({ detail: event }) => {
      if (beside || !plot) return
      const names = event.kind === "mouseleave" ? null : nearest(event)
      if (event.kind !== "tap") point(names)
      else if (names || held) hold(names)
    },
    click: (event) => {
      const path = event.composedPath(), names = named(path)
      if (names && !path.some((node) => node.matches?.("input, button, a, select, textarea"))) hold(names)
    },
    keydown: (event) => {
      const path = event.composedPath()
      if (event.key === "Escape" && (held || over)) { held = over = null; lift() }
      else if ((event.key === "Enter" || event.key === " ") && path[0].classList?.contains("bk-item")) {
        event.preventDefault()
        hold(named(path))
      }
    },
    keyup: (event) => {
      if (event.key !== "Tab") return
      const path = event.composedPath()
      focused = entry(path[0])
      point(named(path))
    },
  }
  for (const [kind, listen] of Object.entries(listeners)) document.addEventListener(kind, listen)

  // ---- entries of the legend by keyboard; Bokeh makes them anew whenever a curve changes, and the one with the focus is gone
  const seen = new WeakSet()
  function dress() {
    for (const root of roots(document)) {
      if (!root.host.classList.contains("bk-Legend")) continue
      if (!seen.has(root)) { seen.add(root); new MutationObserver(dress).observe(root, { childList: true, subtree: true }) }
      for (const [at, item] of [...root.querySelectorAll(".bk-item")].entries()) {
        if (item.tabIndex !== 0) Object.assign(item, { tabIndex: 0, role: "button" })
        const label = `highlight ${model.said[at] ?? ""}`
        if (item.getAttribute("aria-label") !== label) item.setAttribute("aria-label", label)
        if (at === focused && document.activeElement === document.body) item.focus({ preventScroll: true })
      }
    }
  }
  function begin() {
    plot = figure()
    if (plot) dress()
    else setTimeout(begin, 100)
  }
  begin()
  return status
}
