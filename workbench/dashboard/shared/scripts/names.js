// Names and states for screen readers that Bokeh's controls lack: which button of a group is chosen, and what the handle of a slider
// and the arrows of a number are for. Every view sets them whenever it is drawn or changes, so they stay when Bokeh draws anew.
function name_controls(Models) {
  const after = (kind, method, tell) => {
    const view = Models[kind].prototype.default_view.prototype, own = view[method]
    if (!own) return
    view[method] = function (...given) { own.apply(this, given); tell(this) }
  }
  for (const kind of ["RadioButtonGroup", "CheckboxButtonGroup"]) after(kind, "_update_active", ({ model, _buttons }) => {
    _buttons.forEach((button, at) => button.setAttribute("aria-pressed", [model.active].flat().includes(at)))
  })
  for (const kind of ["Slider", "CategoricalSlider"]) after(kind, "_update_title", ({ model, slider_el }) => {
    slider_el.querySelector(".noUi-handle").setAttribute("aria-label", model.title)
  })
  // The arrows heed the mouse alone; by keyboard the field itself goes up and down.
  after("Spinner", "render", ({ model, btn_up_el, btn_down_el }) => {
    for (const [button, name] of [[btn_up_el, "increase"], [btn_down_el, "decrease"]]) {
      button.setAttribute("aria-label", `${name} ${model.title}`)
      button.tabIndex = -1
    }
  })
}
