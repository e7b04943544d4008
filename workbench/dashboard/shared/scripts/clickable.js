// HTML of Python. A click on an element with a key tells Python of it; elements whose keys are marked are shown as chosen.
export function render({ model }) {
  const root = document.createElement("div")
  root.className = "wb-clickable"
  const boxes = () => [...root.querySelectorAll(".scroll")], folds = () => [...root.querySelectorAll("details")]
  const title = (fold) => `${fold.closest("section")?.querySelector("h3")?.textContent} ${fold.querySelector("summary").firstChild.textContent}`
  const mark = () => {
    for (const node of root.querySelectorAll("[data-key]")) {
      const chosen = model.marked.includes(node.dataset.key)
      node.classList.toggle("chosen", chosen)
      if (node.ariaPressed !== null) node.ariaPressed = chosen
    }
    for (const row of root.querySelectorAll("tr.chosen")) {  // in its box, and nothing else is scrolled
      const box = row.closest(".scroll") ?? root, head = row.closest("table").tHead?.offsetHeight ?? 0
      const { top, bottom } = row.getBoundingClientRect(), around = box.getBoundingClientRect()
      if (top < around.top + head || bottom > around.bottom) box.scrollTop += top - around.top - head
    }
  }
  const show = () => {
    const key = root.getRootNode().activeElement?.dataset?.key
    // lists stay where they were scrolled to, and what was folded or opened stays so
    const tops = boxes().map((box) => box.scrollTop), before = new Map(folds().map((fold) => [title(fold), fold]))
    root.innerHTML = model.object
    boxes().forEach((box, at) => { box.scrollTop = tops[at] ?? 0 })
    for (const fold of folds()) {
      const old = before.get(title(fold))
      fold.dataset.made = fold.open
      if (old?.dataset.made === fold.dataset.made) fold.open = old.open  // else a search opens or folds it
    }
    mark()
    if (key) root.querySelector(`button[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true })
  }
  root.onclick = (event) => {
    const node = event.target.closest("[data-key]")
    if (!node) return
    event.preventDefault()  // a button in a line that folds does not fold it
    model.send_msg(node.dataset.key)
  }
  model.on("object", show); model.on("marked", mark)
  show()
  return root
}
