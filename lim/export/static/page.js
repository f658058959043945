/* The stand-alone page: the ranker's walk, the words and the charts' rows, as lim/ranker.py, lim/story.py and
   lim/frames/lab.py make them. The tests compare every one of them at every threshold. */
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const { walk, totals, counts, copies, marks } = data;
  const size = counts.length;
  const number = (value) => value.toLocaleString("en-US");
  const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
  const element = (id) => document.getElementById(id);

  /* The first slot whose cumulative words reach the threshold, by bisection: totals never fall. */
  function firstToReach(threshold, end) {
    let low = 0;
    let high = end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (totals[middle] < threshold) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function arrange(threshold) {
    const ranked = data.ranked;
    const kept = threshold && ranked > 1 ? Math.min(firstToReach(threshold, totals.length) + 1, ranked) : ranked;
    const words = kept ? totals[kept - 1] : 0;
    const crosses = Boolean(threshold && kept && words >= threshold);
    const front = [];
    const back = [];
    for (let slot = 0; slot < kept; slot += 1) (slot % 2 ? back : front).push(walk[slot]);
    return { threshold, ranked, kept, words, crosses, order: front.concat(back.reverse()) };
  }

  const fateOfSlot = (state, slot) => {
    if (slot < state.kept) return state.crosses && slot === state.kept - 1 ? "crosses" : "kept";
    return slot < state.ranked ? "over threshold" : "over top_k";
  };

  function reach({ kept }) {
    if (size === 1) return "The only document reaches the prompt";
    if (kept === size) return `All ${number(size)} documents reach the prompt`;
    return `${number(kept)} of ${number(size)} documents ${kept === 1 ? "reaches" : "reach"} the prompt`;
  }

  function verdict(state) {
    if (!size) return "There is no document to arrange.";
    const { threshold, words, ranked, crosses } = state;
    let sentence = `${reach(state)}: ${plural(words, "word")}`;
    if (ranked === 1 && threshold) {
      sentence += `. A list of one document ignores the threshold of ${number(threshold)}`;
    } else if (crosses && words > threshold) {
      sentence += `, ${number(words - threshold)} over your threshold of ${number(threshold)}, because the document ` +
        "that crosses it is kept";
    } else if (crosses) {
      sentence += `, exactly your threshold of ${number(threshold)}`;
    } else if (threshold) {
      sentence += `, ${number(threshold - words)} below the threshold of ${number(threshold)}, which is never reached`;
    } else {
      sentence += ", with no word limit";
    }
    const losses = [];
    const cut = walk.length - ranked;
    if (cut) {
      losses.push(`${plural(cut, "document")} ${cut === 1 ? "is" : "are"} left out by top_k = ${number(data.top_k)}`);
    }
    const dropped = Object.keys(copies).length;
    if (dropped) losses.push(`${plural(dropped, "duplicate")} ${dropped === 1 ? "is" : "are"} dropped by id`);
    return `${sentence}. ${losses.length ? `${losses.join(" and ")}.` : ""}`.trim();
  }

  const orderRule = ({ kept }) =>
    kept <= 2
      ? "The best document comes first; with two, the second-best comes last"
      : "The best documents sit at both ends; the weakest end up in the middle";

  function budgetRule({ threshold, crosses }) {
    if (!threshold) return "No threshold: click or drag in the chart to set one";
    if (!crosses) return `A threshold of ${number(threshold)} drops nothing: click or drag for another`;
    return "The document that crosses the threshold is kept; click or drag to move it";
  }

  function budgetFinding({ threshold, crosses, words, kept }) {
    if (!threshold) return `Where the budget runs out: no limit, ${plural(words, "word")}`;
    if (!crosses) return `The budget does not run out: ${number(words)} of ${plural(threshold, "word")}`;
    return `The budget runs out at rank ${number(walk[kept - 1])}: ${plural(words, "word")}`;
  }

  /* NumPy rounds halves to the even neighbour. */
  function halfEven(value) {
    const floor = Math.floor(value);
    const rest = value - floor;
    if (rest !== 0.5) return Math.round(value);
    return floor % 2 ? floor + 1 : floor;
  }

  function bins(count, cuts) {
    const runs = Math.min(count, marks.most);
    const edges = new Set(cuts.concat(runs ? [] : [0]));
    const step = count / runs;
    for (let index = 0; runs && index <= runs; index += 1) {
      edges.add(index === runs ? count : halfEven(index * step));
    }
    return [...edges].sort((left, right) => left - right);
  }

  const slotOf = new Map(walk.map((rank, slot) => [rank, slot]));

  function landing(state) {
    const { order, kept, crosses } = state;
    const crossing = crosses ? walk[kept - 1] : null;
    const place = crossing === null ? null : order.indexOf(crossing);
    const edges = bins(order.length, place === null ? [] : [place, place + 1]);
    const weakest = order.reduce((worst, rank) => Math.max(worst, rank), 1);
    const rows = [];
    for (let index = 0; index + 1 < edges.length; index += 1) {
      const [start, stop] = [edges[index], edges[index + 1]];
      const ranks = order.slice(start, stop);
      const alone = stop - start === 1;
      const best = Math.min(...ranks);
      const worst = Math.max(...ranks);
      rows.push({
        name: alone ? String(start + 1) : `${number(start + 1)}–${number(stop)}`,
        position: start + 1,
        last: stop,
        rank: best,
        rank_name: alone ? String(best) : `${number(best)}–${number(worst)}`,
        shade: slotOf.get(best) / Math.max(kept - 1, 1),
        crosses: crossing !== null && ranks.includes(crossing),
        picked: false,
        words: ranks.reduce((sum, rank) => sum + counts[rank - 1], 0),
        preview: alone ? data.previews[best - 1] : "",
        floor: weakest + Math.max(0.9, weakest / 20),
      });
    }
    return rows.map((row) => ({ ...row, label: rows.length <= marks.labelled ? row.rank_name : "" }));
  }

  const walked = walk.length;
  const total = walked ? totals[walked - 1] : 0;

  function budget(state) {
    const { threshold, kept, ranked, crosses } = state;
    const near = threshold && threshold <= marks.farthest * total;
    const common = { threshold: near ? threshold : null, base: threshold || 0 };
    const edges = bins(walked, [...(crosses ? [kept - 1] : []), kept, ranked]);
    const rows = [];
    for (let index = 0; index + 1 < edges.length; index += 1) {
      const [first, last] = [edges[index], edges[index + 1]];
      const alone = last - first === 1;
      const start = first ? totals[first - 1] : 0;
      rows.push({
        kind: "document",
        name: alone ? number(walk[first]) : `${number(first + 1)}–${number(last)}`,
        slot: first + 1,
        last,
        start,
        end: totals[last - 1],
        foot: walked <= marks.labelled ? start : 0,
        words: totals[last - 1] - start,
        ranked: first < ranked,
        picked: false,
        fate: data.fates[fateOfSlot(state, first)],
        preview: alone ? data.previews[walk[first] - 1] : "",
        ...common,
      });
    }
    for (const handle of data.handles) {
      const documents = Math.min(firstToReach(handle, ranked) + 1, ranked);
      rows.push({
        kind: "handle",
        handle,
        handle_documents: documents,
        handle_words: walked ? totals[Math.max(documents - 1, 0)] : 0,
        ...common,
      });
    }
    return rows;
  }

  /* One entry a document, in input order: its position, fate and reason. */
  function table(state) {
    const positions = new Map(state.order.map((rank, index) => [rank, index + 1]));
    return counts.map((_, index) => {
      const rank = index + 1;
      if (rank in copies) {
        const why = `same id as rank ${number(copies[rank])}, which is kept`;
        return { position: null, fate: data.fates.duplicate, why };
      }
      const fate = fateOfSlot(state, slotOf.get(rank));
      return { position: positions.get(rank) ?? null, fate: data.fates[fate], why: reason(state, fate) };
    });
  }

  function reason(state, fate) {
    if (fate === "crosses") {
      return state.ranked === 1
        ? "a list of one document ignores the threshold"
        : `its words reach the threshold of ${number(state.threshold)}; the ranker keeps it`;
    }
    if (fate === "over threshold") return `the walk stopped before it, at ${number(state.words)} words`;
    return fate === "over top_k" ? `top_k keeps the first ${number(data.top_k)}` : "";
  }

  /* The page. */

  const limited = element("limited");
  const slider = element("slider");
  const exact = element("number");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const views = {};
  let threshold = data.threshold;
  let look = data.look;
  let drawn = null;

  const lookNow = () => (look === "auto" ? (dark.matches ? "dark" : "light") : look);

  function alternative(state) {
    const { order } = state;
    const ranks = order.length <= 24
      ? order.join(", ")
      : `${order.slice(0, 4).map(number).join(", ")} … ${order.slice(-4).map(number).join(", ")}`;
    return {
      landing: `${reach(state)}. Original ranks in the order of the prompt: ${ranks}.`,
      budget: `${budgetFinding(state)}. ${verdict(state)}`,
    };
  }

  function say(state) {
    element("verdict").textContent = verdict(state);
    element("landing-rule").textContent = orderRule(state);
    element("budget-rule").textContent = budgetRule(state);
    const words = alternative(state);
    element("landing-words").textContent = words.landing;
    element("budget-words").textContent = words.budget;
    const tokens = data.tokens && state.order.reduce((sum, rank) => sum + data.tokens[rank - 1], 0);
    const figures = {
      documents: `${number(state.kept)} of ${number(size)}`,
      words: number(state.words),
      over: state.threshold ? number(Math.max(state.words - state.threshold, 0)) : "–",
      tokens: data.tokens ? number(tokens) : "not counted",
    };
    for (const [name, value] of Object.entries(figures)) element(`figure-${name}`).textContent = value;
  }

  /* A document has in the table the colour it has in the charts. */
  function shade(place) {
    const channels = (colour) => [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
    const [best, weakest] = data.blues[lookNow()].map(channels);
    return `rgb(${best.map((from, index) => Math.round(from + (weakest[index] - from) * place)).join(", ")})`;
  }

  function fill(state) {
    const rows = element("rows").rows;
    table(state).forEach(({ position, fate, why }, index) => {
      const cells = rows[index].cells;
      cells[1].textContent = position === null ? "–" : number(position);
      cells[2].textContent = why ? `${fate} (${why})` : fate;
      const slot = slotOf.get(index + 1);
      const inPrompt = position !== null;
      rows[index].className = !inPrompt ? "out" : state.crosses && slot === state.kept - 1 ? "crosses" : "in";
      cells[0].style.borderLeftColor = inPrompt ? shade(slot / Math.max(state.kept - 1, 1)) : "";
    });
  }

  function control() {
    const on = Boolean(threshold);
    limited.checked = on;
    slider.disabled = exact.disabled = !on;
    if (on) {
      slider.value = Math.min(threshold, Math.max(total, 1));
      if (exact.value !== String(threshold)) exact.value = threshold;
      slider.setAttribute("aria-valuetext", `${number(threshold)} words`);
    }
  }

  function update() {
    const state = arrange(threshold);
    say(state);
    fill(state);
    control();
    if (views.landing) views.landing.data("rows", landing(state)).runAsync();
    if (views.budget) views.budget.data("pointed_store", []).data("rows", budget(state)).runAsync();
  }

  function set(value) {
    const whole = value === null ? null : Math.floor(Number(value));
    if (whole !== null && !(whole >= 1 && whole <= Number.MAX_SAFE_INTEGER)) return;
    threshold = whole;
    update();
  }

  const rowsOf = { landing, budget };

  const filled = (chart, values) => ({
    ...chart,
    data: chart.data.map((source) => (source.name === "rows" ? { ...source, values } : source)),
  });

  async function draw() {
    const now = lookNow();
    if (drawn === now) return;
    drawn = now;
    document.documentElement.dataset.look = now;
    for (const name of ["landing", "budget"]) {
      views[name]?.finalize();
      delete views[name];
      const { view } = await vegaEmbed(element(name), filled(data.charts[now][name], rowsOf[name](arrange(threshold))), {
        mode: "vega",
        ast: true, // no eval: the page's policy forbids it
        actions: false,
        renderer: "svg",
        defaultStyle: false,
        tooltip: { disableDefaultStyle: true, theme: "page" },
      });
      if (drawn !== now) {
        view.finalize();
        return;
      }
      views[name] = view;
    }
    views.budget.addSignalListener("pointed", (_, pointed) => {
      // After the chart's own update, which may not be entered a second time.
      if (pointed.handle) setTimeout(() => set(pointed.handle[0]));
    });
    update();
  }

  function cell(row, value, kind) {
    const made = row.insertCell();
    made.textContent = value;
    if (kind) made.className = kind;
    return made;
  }

  function build() {
    const rows = element("rows");
    counts.forEach((words, index) => {
      const row = rows.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = number(index + 1);
      row.append(head);
      cell(row, "");
      cell(row, "", "fate");
      cell(row, number(words));
      const slot = slotOf.get(index + 1);
      cell(row, slot === undefined ? "–" : number(totals[slot]));
      if (data.tokens) cell(row, number(data.tokens[index]));
      if (data.scores) cell(row, data.scores[index] === null ? "–" : String(data.scores[index]));
      if (data.ids) cell(row, data.ids[index], "id");
      if (data.texts) {
        const text = cell(row, "", "text");
        if (data.whole) {
          const more = document.createElement("details");
          const summary = document.createElement("summary");
          summary.textContent = data.previews[index] || "(empty)";
          const body = document.createElement("div");
          body.textContent = data.texts[index];
          more.append(summary, body);
          text.append(more);
        } else {
          text.textContent = data.texts[index];
        }
      }
    });
    if (data.query) element("query").textContent = data.query;
  }

  build();
  slider.addEventListener("input", () => set(slider.value));
  exact.addEventListener("input", () => set(exact.value));
  exact.addEventListener("change", control);
  limited.addEventListener("change", () => set(limited.checked ? Number(exact.value) || Math.max(total, 1) : null));
  element("look").addEventListener("change", (event) => {
    look = event.target.value;
    draw();
  });
  element("look").value = look;
  dark.addEventListener("change", draw);
  update();
  draw();

  /* For the tests, and for whoever wants the numbers behind the page. */
  window.lab = { data, arrange, verdict, table, landing, budget, orderRule, budgetRule, budgetFinding, set, views };
})();
