// A place without height that tells when it has come in sight.
export function render({ model }) {
  const place = element("div")
  const watch = new IntersectionObserver((seen) => {
    if (!seen.some(({ isIntersecting }) => isIntersecting)) return
    model.seen = true
    watch.disconnect()
  })
  watch.observe(place)
  return place
}
