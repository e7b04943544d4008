// What may be long, in a box: a table is whole up to so many rows (a number, or a function of none), a text up to the height that its style sheet gives it. Of
// what is longer the box says that it goes on, and cuts the last row in two, so that it is seen too. It opens at what is chosen.
export function boxed(content, what, most = 20) {
  const box = element("div", { className: "scroll" }, content), more = element("p", { className: "more" })
  let opened = false
  const fit = () => {
    const rows = [...content.tBodies?.[0].rows ?? []].filter((row) => row.className !== "detail")
    const whole = typeof most === "function" ? most() : most, last = rows[whole]
    box.style.maxHeight = rows.length > whole + 2 ? `${last.offsetTop + last.offsetHeight / 2 + (content.tFoot?.offsetHeight ?? 0)}px` : ""
    put(more, box.scrollHeight > box.clientHeight + 1 ? `${rows.length || ""} ${what}: scroll for the rest`.trim() : "")
    if (!opened) reveal(content.querySelector(".chosen"))
    opened ||= rows.length > 0
  }
  new ResizeObserver(() => requestAnimationFrame(fit)).observe(content)
  return element("div", {}, box, more)
}

// Scrolls the box of a row, and nothing else, so far that the row is seen between the head and the foot of its table.
export function reveal(row) {
  const box = row?.closest(".scroll")
  if (!box) return
  const { top, bottom } = row.getBoundingClientRect(), around = box.getBoundingClientRect(), table = row.closest("table")
  const above = around.top + (table.tHead?.offsetHeight ?? 0) - top, below = bottom - around.bottom + (table.tFoot?.offsetHeight ?? 0)
  if (above > 0) box.scrollTop -= above
  else if (below > 0) box.scrollTop += below
}
