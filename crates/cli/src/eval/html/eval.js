"use strict";
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.append(tip);
  const mark = (event) => event.target.closest?.("[data-tip]");
  const reveal = (event) => {
    const target = mark(event);
    if (!target) return;
    tip.textContent = target.dataset.tip;
    tip.hidden = false;
    const box = target.querySelector("circle").getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left - 20), innerWidth - tip.offsetWidth - 8);
    const above = box.top - tip.offsetHeight - 8;
    tip.style.left = left + "px";
    tip.style.top = (above > 8 ? above : box.bottom + 10) + "px";
  };
  const conceal = (event) => { if (mark(event)) tip.hidden = true; };
  for (const name of ["mouseover", "focusin"]) document.addEventListener(name, reveal);
  for (const name of ["mouseout", "focusout"]) document.addEventListener(name, conceal);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
})();
