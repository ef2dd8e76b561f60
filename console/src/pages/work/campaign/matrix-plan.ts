/** Where each router stands in the matrix: columns of equal height, canaries apart, in the order in which they run. */
export interface MatrixPlan {
  /** Pixels from one cell to the next. */
  pitch: number;
  rows: number;
  columns: number;
  /** Columns of the canaries; after them one column stays free. 0 without canaries. */
  canaryColumns: number;
}

/** Cells get smaller as there are more of them, pixels. */
const PITCHES = [25, 18, 13, 10] as const;
const LEAST_ROWS = 8;
/** Higher than this the matrix would push everything else away, pixels. */
const MOST_HEIGHT = 240;

export function planOf(count: number, canaries: number, width: number): MatrixPlan {
  for (const pitch of PITCHES) {
    const plan = planWith(pitch, count, canaries, width);
    if (plan.rows * pitch <= MOST_HEIGHT || pitch === PITCHES.at(-1)) return plan;
  }
  throw new Error('the last pitch always fits');
}

function planWith(pitch: number, count: number, canaries: number, width: number): MatrixPlan {
  const room = Math.max(4, Math.floor(width / pitch));
  for (let rows = LEAST_ROWS; ; rows += 1) {
    const canaryColumns = Math.ceil(canaries / rows);
    const columns = (canaryColumns === 0 ? 0 : canaryColumns + 1) + Math.ceil((count - canaries) / rows);
    if (columns <= room) return { pitch, rows, columns, canaryColumns };
  }
}

/** @param index place in the list, from 0 */
export function cellOf({ rows, canaryColumns }: MatrixPlan, index: number, canaries: number): { column: number; row: number } {
  if (index < canaries) return { column: Math.floor(index / rows), row: index % rows };
  const rest = index - canaries;
  return { column: (canaryColumns === 0 ? 0 : canaryColumns + 1) + Math.floor(rest / rows), row: rest % rows };
}

/** The inverse; undefined between the cells. */
export function indexAt(plan: MatrixPlan, { x, y }: { x: number; y: number }, canaries: number, count: number): number | undefined {
  const column = Math.floor(x / plan.pitch);
  const row = Math.floor(y / plan.pitch);
  if (row < 0 || row >= plan.rows || column < 0) return undefined;
  const first = plan.canaryColumns === 0 ? 0 : plan.canaryColumns + 1;
  if (column < plan.canaryColumns) {
    const index = column * plan.rows + row;
    return index < canaries ? index : undefined;
  }
  if (column < first) return undefined;
  const index = canaries + (column - first) * plan.rows + row;
  return index < count ? index : undefined;
}
