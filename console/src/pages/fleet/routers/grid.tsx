import { useElementScrollRestoration, useNavigate } from '@tanstack/react-router';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import type { Range } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useIsPhone } from '../../../parts/use-is-phone.ts';
import { useNow } from '../../../parts/use-now.ts';
import { printedRows, usePrinted } from '../../../parts/use-printed.ts';
import type { ListColumn } from './columns.ts';
import { Row } from './row.tsx';
import type { SiteNames, SortKey } from './search.ts';
import { isSelected, selectedOf } from './selection.ts';
import type { Selection } from './selection.ts';
import { words } from './words.ts';

const ROW_PX = { usual: 30, tall: 44, card: 82 };
const SCROLLER = 'routers-grid';

interface Props {
  ids: readonly string[];
  columns: readonly ListColumn[];
  isTall: boolean;
  /** Whether this person may do anything with what is selected. */
  canSelect: boolean;
  sort: SortKey;
  onSort: (key: SortKey) => void;
  sites: SiteNames;
  selection: Selection;
  onToggle: (id: string) => void;
  onToggleAll: () => void;
  /** What the address of a router keeps of this list's: `?q=core`. */
  kept: string;
  /** Ids of the rows in sight, whenever they change; undefined while nobody asks, because it renders the page. */
  onSight: ((ids: readonly string[]) => void) | undefined;
}

/** The rows in sight and no others. One row can be reached by the Tab key; arrows go from row to row, and the focus stays on its router. */
export function Grid(props: Props) {
  const { ids, columns, isTall, canSelect, sites, selection, kept, onToggle, onSight } = props;
  const isPhone = useIsPhone();
  const isPrinted = usePrinted();
  const now = useNow(60_000);
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string>();
  const activeIndex = Math.max(0, active === undefined ? 0 : ids.indexOf(active));
  const rowPx = isPhone ? ROW_PX.card : isTall ? ROW_PX.tall : ROW_PX.usual;
  const restored = useElementScrollRestoration({ id: SCROLLER });
  const rows = useVirtualizer({
    count: ids.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 6,
    // Rows are rendered with the frame, and not once more before it.
    useFlushSync: false,
    initialOffset: restored?.scrollY ?? 0,
    // The row with the focus stays in the page, however far somebody scrolls.
    rangeExtractor: useCallback((range: Range) => withActive(range, activeIndex), [activeIndex]),
  });
  useEffect(() => rows.measure(), [rows, rowPx]);
  const { startIndex = 0, endIndex = 0 } = rows.range ?? {};
  useEffect(() => onSight?.(ids.slice(startIndex, endIndex + 1)), [onSight, ids, startIndex, endIndex]);
  const goTo = (index: number): void => {
    const id = ids[Math.min(Math.max(index, 0), ids.length - 1)];
    if (id === undefined) return;
    setActive(id);
    rows.scrollToIndex(ids.indexOf(id));
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-id="${id}"]`)?.focus({ preventScroll: true }));
  };
  const keys = useRowKeys({ goTo, activeIndex, page: endIndex - startIndex, ids, onToggle: canSelect ? onToggle : undefined });
  const drawn = isPrinted ? printedRows(ids.length) : rows.getVirtualItems();
  const tracks = `${canSelect ? '24px ' : ''}${columns.map(({ width }) => width).join(' ')}`;
  return (
    // oxlint-disable-next-line jsx-a11y/interactive-supports-focus -- its rows take the focus, one at a time
    <div
      className="grid routers-grid"
      role="grid"
      aria-label={words.grid.label}
      aria-multiselectable="true"
      aria-rowcount={ids.length + 1}
      onKeyDown={keys}
      style={isTall ? ({ '--routers-row': `${ROW_PX.tall}px` } as React.CSSProperties) : undefined}
    >
      <Head {...props} tracks={tracks} />
      <div className="gbody" ref={scroller} role="rowgroup" data-scroll-restoration-id={SCROLLER}>
        <div style={{ height: rows.getTotalSize() }} role="presentation">
          {drawn.map(({ index, start }) => {
            const id = ids[index];
            if (id === undefined) return null;
            return (
              <Row
                key={id}
                {...{ id, index, top: start, columns, tracks, sites, now, isPhone, canSelect, kept, onToggle }}
                isActive={index === activeIndex}
                isSelected={isSelected(selection, id)}
                onFocus={setActive}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function withActive(range: Range, active: number): number[] {
  const indexes = defaultRangeExtractor(range);
  if (active >= range.count || indexes.includes(active)) return indexes;
  return [...indexes, active].sort((one, other) => one - other);
}

function Head({ ids, columns, sort, onSort, canSelect, selection, onToggleAll, tracks }: Props & { tracks: string }) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) box.current.indeterminate = selection.kind === 'some' && selectedOf(selection, ids).length > 0;
  });
  return (
    <div className="grow ghead" role="row" aria-rowindex={1} style={{ gridTemplateColumns: tracks }}>
      {canSelect ? (
        <span role="columnheader" className="pick">
          <input
            ref={box}
            type="checkbox"
            aria-label={words.grid.selectAll(ids.length)}
            checked={selection.kind === 'all'}
            onChange={onToggleAll}
          />
        </span>
      ) : null}
      {columns.map(({ key, title, isNumber }) => (
        <span key={key} role="columnheader" className={isNumber ? 'num' : ''} aria-sort={key === sort ? 'ascending' : undefined}>
          {key === 'rails' ? (
            <span className="rails-head">
              <span>{words.grid.axis.start}</span>
              <span>{words.grid.axis.middle}</span>
              <span>{words.grid.axis.end}</span>
            </span>
          ) : (
            <button type="button" className={key === sort ? 'sorted' : ''} onClick={() => onSort(key)}>
              {title}
            </button>
          )}
        </span>
      ))}
    </div>
  );
}

interface Keys {
  goTo: (index: number) => void;
  activeIndex: number;
  page: number;
  ids: readonly string[];
  onToggle: ((id: string) => void) | undefined;
}

/** Arrows, page keys, Home and End move; Enter opens; Space selects. */
function useRowKeys({ goTo, activeIndex, page, ids, onToggle }: Keys): (event: React.KeyboardEvent) => void {
  const navigate = useNavigate({ from: '/routers' });
  return (event) => {
    if (!(event.target instanceof HTMLElement) || event.target.dataset['id'] === undefined) return;
    const id = ids[activeIndex];
    const acts: Record<string, () => void> = {
      ArrowDown: () => goTo(activeIndex + 1),
      ArrowUp: () => goTo(activeIndex - 1),
      PageDown: () => goTo(activeIndex + page),
      PageUp: () => goTo(activeIndex - page),
      Home: () => goTo(0),
      End: () => goTo(ids.length - 1),
      Enter: () =>
        void navigate({
          to: '/routers/$routerId',
          params: { routerId: id! },
          search: ({ q, sort }) => ({ ...(q === undefined ? {} : { q }), ...(sort === undefined ? {} : { sort }) }),
        }),
      ' ': () => onToggle?.(id!),
    };
    const act = acts[event.key];
    if (!act || id === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };
}
