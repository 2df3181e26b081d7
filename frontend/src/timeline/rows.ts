import type { Item, Turn } from "../api/types";

/**
 * The timeline as it is drawn: one row for each entry, derived from the
 * items. Nothing here is stored. A run is what the agent did between two
 * messages of the user.
 */
export type Row =
  | { kind: "begin"; key: string }
  | { kind: "day"; key: string; at: string }
  | { kind: "unread"; key: string; at: string }
  | { kind: "user"; key: string; item: Item }
  | { kind: "run"; key: string; run: Run; open: boolean }
  | { kind: "step"; key: string; item: Item; live: boolean; depth: number; clock: boolean }
  | { kind: "answer"; key: string; item: Item; clock: boolean }
  /** A fact between the entries: compaction, a stop. */
  | { kind: "mark"; key: string; item: Item }
  /** A failure, with the way on. */
  | { kind: "error"; key: string; item: Item; inRun: boolean; live: boolean };

export type Run = {
  turn: string;
  live: boolean;
  /** How it ended, where that is known. */
  state: Turn["state"] | undefined;
  startedAt: string;
  endedAt: string;
  tools: number;
  thoughts: number;
  added: number;
  removed: number;
  /** Something in it failed. */
  failures: number;
};

export type RowsInput = {
  items: readonly Item[];
  /** The stretch begins at the chat's first item. */
  whole: boolean;
  turns: ReadonlyMap<string, Turn>;
  /** The chat's present or last turn. */
  turn: Turn | undefined;
  /** Turns that the user saw at work, or opened: they are drawn with all their steps. */
  open: ReadonlySet<string>;
  /** Turns that the user folded by hand. */
  folded: ReadonlySet<string>;
  /** Sub-agent calls that the user opened. */
  expanded: ReadonlySet<string>;
  /** The first item that had not been seen when the chat was opened. */
  unreadSeq: number | undefined;
};

const ended = new Set(["completed", "failed", "stopped", "interrupted"]);

const isNotice = (item: Item) => item.kind === "notice" || item.kind === "alert";
const isFailure = (item: Item) =>
  isNotice(item) && (item.body.notice?.level === "error" || item.status === "failed");
/** What counts as work: a run that has none of it needs no head. */
const isWork = (item: Item) => item.kind !== "answer" && !isNotice(item);

/** Items that belong together: a message of the user, and what followed it. */
type Part = { user: Item | undefined; steps: Item[]; turn: string };

function partsOf(items: readonly Item[]): { parts: Part[]; children: Map<string, Item[]> } {
  const known = new Set(items.map((item) => item.id));
  const children = new Map<string, Item[]>();
  const parts: Part[] = [];
  for (const item of items) {
    if (item.parent && known.has(item.parent)) {
      children.set(item.parent, [...(children.get(item.parent) ?? []), item]);
      continue;
    }
    const turn = item.turn ?? "";
    if (item.kind === "user_message") {
      parts.push({ user: item, steps: [], turn });
      continue;
    }
    const last = parts.at(-1);
    if (last && last.turn === turn) last.steps.push(item);
    else parts.push({ user: undefined, steps: [item], turn });
  }
  return { parts, children };
}

/** The rows, reusing those of `before` that did not change, so that only what changed is drawn again. */
export function deriveRows(input: RowsInput, before: readonly Row[] = []): Row[] {
  const { parts, children } = partsOf(input.items);
  const rows: Row[] = [];
  let day = "";
  let unread = input.unreadSeq;
  const pushDay = (item: Item) => {
    const date = new Date(item.at).toDateString();
    if (date !== day) rows.push({ kind: "day", key: `day ${date}`, at: item.at });
    day = date;
  };
  const pushUnread = (item: Item): boolean => {
    if (unread === undefined || item.seq < unread || item.kind === "user_message") return false;
    unread = undefined;
    rows.push({ kind: "unread", key: "unread", at: item.at });
    return true;
  };
  if (input.whole && input.items.length > 0) rows.push({ kind: "begin", key: "begin" });
  for (const part of parts) {
    const first = part.user ?? part.steps[0];
    if (first) pushDay(first);
    if (part.user) rows.push({ kind: "user", key: part.user.id, item: part.user });
    pushPart(rows, part, children, input, pushUnread);
  }
  return reuse(rows, before);
}

function pushPart(
  rows: Row[],
  part: Part,
  children: ReadonlyMap<string, Item[]>,
  input: RowsInput,
  pushUnread: (item: Item) => boolean,
): void {
  const run = runOf(part, children, input);
  if (part.steps.length === 0 && !run.live) return;
  // A notice about the turn as a whole stands after it.
  const closing = closingNotices(part.steps, run.live);
  const body = part.steps.slice(0, part.steps.length - closing.length);
  const folded = input.folded.has(part.turn);
  const kept = part.turn !== "" && (run.live || input.open.has(part.turn));
  // In an open run the answer keeps the place where it was written.
  const trailing = run.live || (kept && !folded) ? 0 : trailingAnswers(body);
  const inside = body.slice(0, body.length - trailing);
  const hasHead = part.turn !== "" && (kept || inside.some(isWork));
  const opened = hasHead ? kept && !folded : true;
  let clock = !part.user;
  if (hasHead)
    rows.push({
      kind: "run",
      key: `run ${part.turn} ${part.user?.id ?? inside[0]?.id ?? ""}`,
      run,
      open: opened,
    });
  if (opened) {
    for (const item of inside) {
      clock = pushUnread(item) || clock;
      pushStep(rows, item, { live: run.live, depth: 0, clock }, children, input.expanded);
      clock = false;
    }
  } else {
    for (const item of inside) if (pushUnread(item)) break;
  }
  for (const item of body.slice(body.length - trailing)) {
    clock = pushUnread(item) || clock;
    rows.push({ kind: "answer", key: item.id, item, clock: clock || !hasHead });
    clock = false;
  }
  for (const item of closing) {
    pushUnread(item);
    rows.push(
      isFailure(item)
        ? { kind: "error", key: item.id, item, inRun: false, live: false }
        : { kind: "mark", key: item.id, item },
    );
  }
}

function pushStep(
  rows: Row[],
  item: Item,
  look: { live: boolean; depth: number; clock: boolean },
  children: ReadonlyMap<string, Item[]>,
  expanded: ReadonlySet<string>,
): void {
  if (isFailure(item)) rows.push({ kind: "error", key: item.id, item, inRun: true, live: look.live });
  else if (isNotice(item) && item.body.notice?.code === "compacted")
    rows.push({ kind: "mark", key: item.id, item });
  else rows.push({ kind: "step", key: item.id, item, ...look });
  if (!expanded.has(item.id)) return;
  for (const child of children.get(item.id) ?? []) {
    pushStep(rows, child, { live: look.live, depth: look.depth + 1, clock: false }, children, expanded);
  }
}

/** The notices at the end of an ended part: how it ended. */
function closingNotices(steps: readonly Item[], live: boolean): Item[] {
  if (live) return [];
  let count = 0;
  while (count < steps.length && isNotice(steps[steps.length - 1 - count] as Item)) count++;
  return steps.slice(steps.length - count);
}

/** What the agent said last, after all its work: the result, which stands outside the run. */
function trailingAnswers(steps: readonly Item[]): number {
  let count = 0;
  while (count < steps.length) {
    const item = steps[steps.length - 1 - count] as Item;
    if (item.kind !== "answer" || item.body.commentary) break;
    count++;
  }
  return count;
}

function runOf(part: Part, children: ReadonlyMap<string, Item[]>, input: RowsInput): Run {
  const turn = input.turn?.id === part.turn ? input.turn : input.turns.get(part.turn);
  const first = part.user ?? part.steps[0];
  const last = part.steps.at(-1) ?? first;
  const run: Run = {
    turn: part.turn,
    live:
      turn !== undefined &&
      input.turn?.id === part.turn &&
      !ended.has(turn.state) &&
      turn.state !== "uncertain",
    state: turn?.state,
    startedAt: turn?.started_at ?? first?.at ?? "",
    endedAt: turn?.ended_at ?? last?.body.tool?.ended_at ?? last?.at ?? "",
    tools: 0,
    thoughts: 0,
    added: 0,
    removed: 0,
    failures: 0,
  };
  const add = (item: Item) => {
    if (item.kind === "tool_call") run.tools++;
    if (item.kind === "thought") run.thoughts++;
    if (isFailure(item)) run.failures++;
    for (const file of item.body.tool?.files ?? item.body.files ?? []) {
      run.added += file.added;
      run.removed += file.removed;
    }
    for (const child of children.get(item.id) ?? []) add(child);
  };
  for (const item of part.steps) add(item);
  return run;
}

function sameRun(a: Run, b: Run): boolean {
  return (Object.keys(a) as (keyof Run)[]).every((key) => a[key] === b[key]);
}

function same(a: Row, b: Row): boolean {
  if (a.kind !== b.kind || a.key !== b.key) return false;
  if (a.kind === "run" && b.kind === "run") return a.open === b.open && sameRun(a.run, b.run);
  return (Object.keys(a) as (keyof Row)[]).every((key) => a[key] === b[key]);
}

function reuse(rows: Row[], before: readonly Row[]): Row[] {
  const held = new Map(before.map((row) => [row.key, row]));
  return rows.map((row) => {
    const old = held.get(row.key);
    return old && same(old, row) ? old : row;
  });
}

/** How many tool calls a sub-agent has made. */
export function childCalls(items: readonly Item[], parent: string): number {
  return items.filter((item) => item.parent === parent && item.kind === "tool_call").length;
}
