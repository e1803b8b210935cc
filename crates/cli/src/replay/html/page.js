"use strict";
(() => {
  const rows = [...document.querySelectorAll("#table tbody tr")];
  const filter = document.getElementById("filter");
  const show = document.getElementById("show");
  const count = document.getElementById("count");
  const articles = new Map(
    [...document.querySelectorAll("article")].map((it) => [it.dataset.i, it])
  );
  const OUTCOME = 1, FIRST = 7, ENDED = 10;
  const text = (row, i) => row.cells[i].textContent.trim();
  const value = (cell) => cell.dataset.v ?? cell.textContent.trim();

  // A run with a chart links to it.
  for (const row of rows) {
    if (!articles.has(row.dataset.i)) continue;
    const cell = row.cells[0];
    const link = document.createElement("a");
    link.href = "#run-" + row.dataset.i;
    link.textContent = cell.textContent;
    cell.title = cell.textContent;
    cell.replaceChildren(link);
    link.addEventListener("click", () => articles.get(row.dataset.i).focus({ preventScroll: true }));
  }

  const wanted = {
    "": () => true,
    decided: (row) => text(row, FIRST) !== "",
    ended: (row) => text(row, ENDED) !== "",
    solved: (row) => text(row, OUTCOME) === "solved",
    unsolved: (row) => text(row, OUTCOME) === "unsolved",
  };
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const content = row.textContent.toLowerCase();
      const fits = wanted[show.value](row) && words.every((word) => content.includes(word));
      row.hidden = !fits;
      const article = articles.get(row.dataset.i);
      if (article) article.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} runs`;
  };
  filter.addEventListener("input", apply);
  show.addEventListener("change", apply);
  apply();

  const heads = [...document.querySelectorAll("#table thead th")];
  const body = document.querySelector("#table tbody");
  heads.forEach((head, i) => head.firstElementChild.addEventListener("click", () => {
    const numeric = head.classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const down = before ? before === "ascending" : numeric;
    heads.forEach((it) => it.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const compare = (a, b) => {
      const [x, y] = [value(a.cells[i]), value(b.cells[i])];
      if (x === "" || y === "") return (x === "") - (y === "");
      const order = numeric ? Number(x) - Number(y) : x.localeCompare(y, "en", { numeric: true });
      return down ? -order : order;
    };
    body.append(...rows.sort(compare));
  }));

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
    const box = target.querySelector(".head").getBoundingClientRect();
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
