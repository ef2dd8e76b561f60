import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import type { RecordList } from '../data/use-list.ts';
import { useStillRows } from './press.ts';
import { Reading, ReadingFailed, sentenceOf } from './reading.tsx';
import { useIsPhone } from './use-is-phone.ts';
import { printedRows, usePrinted } from './use-printed.ts';
import { words } from './words.ts';

export interface Column<T> {
  title: string;
  /** A track of CSS grid: `90px`, `minmax(120px, 1fr)`. */
  width: string;
  cell: (record: T) => React.ReactNode;
  /** Classes of head and cell: `num` for numbers, `el` for texts that may be cut off, `dim`. */
  className?: string;
  /** Not shown on a phone. */
  isWide?: boolean;
}

interface Props<T> {
  /** What the table lists, for readers: `Jobs`. */
  label: string;
  columns: readonly Column<T>[];
  list: RecordList<T>;
  keyOf: (record: T) => string;
  /** What would be here, and the one action that brings it. */
  empty: React.ReactNode;
  /** On a phone, a row is as high as its texts: nobody can point at one that is cut off. The style sheet of the page says which of them go on. */
  isWrapped?: boolean;
}

const ROW_PX = 30;
/** Two lines. */
const PHONE_ROW_PX = 52;
/** The next page is read when fewer rows than this are left below. */
const ROWS_AHEAD = 20;

/** A list of the interface: only the rows in sight are in the page, and the next ones are read as the reader comes near them. */
export function RecordTable<T>({ list: newest, label, columns: all, keyOf, empty, isWrapped = false }: Props<T>) {
  const isPhone = useIsPhone();
  const columns = isPhone ? all.filter(({ isWide }) => isWide !== true) : all;
  const list = useStillRows(newest);
  if (list.error && list.records.length === 0) return <ReadingFailed error={list.error} what={label} />;
  if (list.isFirst) return <Reading />;
  if (list.records.length === 0) return <div className="empty">{empty}</div>;
  return <Rows label={label} columns={columns} list={list} newest={newest} keyOf={keyOf} isMeasured={isPhone && isWrapped} />;
}

interface RowsProps<T> extends Omit<Props<T>, 'empty' | 'isWrapped'> {
  newest: RecordList<T>;
  /** Rows have heights of their own. */
  isMeasured: boolean;
}

function Rows<T>({ label, columns, list, newest, keyOf, isMeasured }: RowsProps<T>) {
  const { records, hasMore, readMore, isOld = false, readAgain, error } = list;
  const scroller = useRef<HTMLDivElement>(null);
  const isPhone = useIsPhone();
  const rowPx = isPhone ? PHONE_ROW_PX : ROW_PX;
  const rows = useVirtualizer({
    count: records.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 6,
    // What was measured stays with its record when others come before it.
    ...(isMeasured ? { getItemKey: (index: number) => keyOf(records[index]!) } : {}),
  });
  const inSight = rows.getVirtualItems();
  const drawn = usePrinted() ? printedRows(records.length) : inSight;
  const last = inSight.at(-1)?.index ?? 0;
  useEffect(() => {
    // After an error only the reader asks again: every failure renders, and would ask at once. A shorter list is another one, not shown yet.
    const isLonger = newest.records.length >= records.length;
    if (newest.hasMore && error === null && isLonger && last + ROWS_AHEAD > newest.records.length) newest.readMore();
  });
  const tracks = isPhone ? {} : { gridTemplateColumns: columns.map(({ width }) => width).join(' ') };
  // Rows of another height stand at other places.
  useEffect(() => rows.measure(), [rows, rowPx]);
  const total = hasMore ? -1 : records.length + 1;
  return (
    <>
      {isOld ? (
        <p className="outcome" role="status">
          {words.rows.old}{' '}
          <button type="button" className="btn quiet sm" onClick={readAgain}>
            {words.rows.readAgain}
          </button>
        </p>
      ) : null}
      <div className="grid" role="table" aria-label={label} aria-rowcount={total}>
        <div className={isPhone ? 'sr' : 'grow ghead'} role="row" aria-rowindex={1} style={tracks}>
          {columns.map(({ title, className }) => (
            <span key={title} role="columnheader" className={className}>
              {title}
            </span>
          ))}
        </div>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard */}
        <div className="gbody" ref={scroller} tabIndex={0} role="rowgroup" aria-label={words.rows.label(label)}>
          <div style={{ height: rows.getTotalSize() }}>
            {drawn.map(({ index, start }) => {
              const record = records[index]!;
              return (
                <div
                  key={keyOf(record)}
                  data-id={keyOf(record)}
                  data-index={index}
                  ref={isMeasured ? rows.measureElement : undefined}
                  className={`grow${isPhone ? ' card' : ''}${isMeasured ? ' measured' : ''}`}
                  role="row"
                  aria-rowindex={index + 2}
                  style={{ ...tracks, transform: `translateY(${start}px)` }}
                >
                  {columns.map(({ title, className, cell }) => (
                    <span key={title} role="cell" className={className}>
                      {cell(record)}
                    </span>
                  ))}
                </div>
              );
            })}
          </div>
        </div>
      </div>
      {hasMore && error !== null ? (
        <p className="outcome" role="alert">
          {words.rows.nextFailed} {sentenceOf(error)}{' '}
          <button type="button" className="btn quiet sm" onClick={readMore}>
            {words.rows.tryAgain}
          </button>
        </p>
      ) : null}
    </>
  );
}
