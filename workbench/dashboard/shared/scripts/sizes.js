// Sizes of the topics over the iterations: stacked shares, or a line each.
const HIGH = 300, LEFT = 46, RIGHT = 12, TOP = 10, BOTTOM = 34

// The first and last iteration, and round ones between them that are not too near to either.
function round(first, last) {
  const steps = [1, 2, 5].flatMap((digit) => [1, 10, 100, 1e3, 1e4, 1e5, 1e6].map((power) => digit * power)).sort((a, b) => a - b)
  const step = steps.find((one) => (last - first) / one <= 5) || 1e7, found = [first]
  for (let one = step * Math.ceil(first / step); one < last; one += step) {
    if (one - first > step / 2 && last - one > step / 2) found.push(one)
  }
  return last > first ? [...found, last] : found
}

export function render({ model }) {
  const plot = shape("svg", { role: "img", height: HIGH, class: "plot" })
  const hint = element("p", { className: "hint", ariaLive: "polite" })
  const root = element("div", { className: "wb-sizes" }, plot, hint)
  const paths = new Map()
  const axes = shape("g", { class: "axes" }), layer = shape("g")
  plot.append(layer, axes)

  function draw() {
    const width = root.clientWidth || 700, { iterations = [], caption } = model.content, n = iterations.length
    const series = (model.content.series || []).map((one) => ({ ...one, shares: one.shares.split(" ").map(Number) }))
    set(plot, { width, viewBox: `0 0 ${width} ${HIGH}`, "aria-label": caption || "" })
    plot.style.display = n ? "" : "none"
    put(hint, model.said)
    if (!n) return
    const stacked = model.kind === "stacked", first = iterations[0], last = iterations[n - 1]
    const largest = stacked ? 1 : Math.max(...series.flatMap((one) => one.shares), 1e-12)
    const along = (iteration) => LEFT + (width - LEFT - RIGHT) * (iteration - first) / Math.max(last - first, 1)
    const x = (at) => along(iterations[at])
    const y = (share) => TOP + (HIGH - TOP - BOTTOM) * (1 - share / largest)
    const seen = new Set(series.map((one) => String(one.topic))), below = new Array(n).fill(0)
    for (const [key, path] of paths) if (!seen.has(key)) { path.remove(); paths.delete(key) }
    for (const one of series) {
      const key = String(one.topic)
      if (!paths.has(key)) {
        const title = shape("title"), path = shape("path", { "data-topic": key }, title)
        if (one.topic >= 0) path.onclick = () => choose(model, one.topic)
        paths.set(key, path); layer.append(path)
      }
      const path = paths.get(key), point = (at, share) => `${x(at).toFixed(1)},${y(share).toFixed(1)}`
      let d = one.shares.map((share, at) => point(at, below[at] + share))
      if (stacked) {
        if (n === 1) d = [`${LEFT},${y(below[0] + one.shares[0])}`, `${width - RIGHT},${y(below[0] + one.shares[0])}`, `${width - RIGHT},${y(below[0])}`, `${LEFT},${y(below[0])}`]
        else d = [...d, ...one.shares.map((share, at) => point(at, below[at])).reverse()]
        one.shares.forEach((share, at) => { below[at] += share })
      }
      set(path, { d: `M${d.join("L")}${stacked ? "Z" : ""}`, style: `--topic: ${one.colour}`, class: [stacked ? "area" : "line", model.chosen === -1 ? "" : one.topic === model.chosen ? "own" : "other"].join(" ").trim() })
      put(path.querySelector("title"), `${one.name}: ${percent(one.shares[n - 1])} at iteration ${last}`)
    }
    const own = paths.get(String(model.chosen))
    if (own && !stacked) layer.append(own)
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => part * largest), marks = []
    for (const share of ticks) {
      marks.push(shape("line", { x1: LEFT, x2: width - RIGHT, y1: y(share), y2: y(share) }))
      marks.push(shape("text", { x: LEFT - 6, y: y(share) + 4, "text-anchor": "end" }, percent(share, largest < 0.1 ? 1 : 0)))
    }
    for (const one of round(first, last)) {
      const anchor = one === first ? "start" : one === last ? "end" : "middle"
      marks.push(shape("text", { x: along(one), y: HIGH - BOTTOM + 16, "text-anchor": anchor }, one.toLocaleString("en")))
    }
    const middle = LEFT + (width - LEFT - RIGHT) / 2
    axes.replaceChildren(...marks, shape("text", { x: middle, y: HIGH - 4, "text-anchor": "middle" }, "iteration"))
  }

  const watch = new ResizeObserver(draw)
  watch.observe(root)
  model.on("remove", () => watch.disconnect())
  for (const name of ["content", "kind", "chosen", "said"]) model.on(name, draw)
  return root
}
