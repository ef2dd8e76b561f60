import './short-table.css';
import type { RecordList } from '../data/use-list.ts';
import { useStillRows } from './press.ts';
import { Reading, ReadingFailed } from './reading.tsx';
import type { Column } from './record-table.tsx';
import { words } from './words.ts';

interface Props<T> {
  /** What the table lists, for readers: `API keys`. */
  label: string;
  columns: readonly Column<T>[];
  list: RecordList<T>;
  keyOf: (record: T) => string;
  /** What would be here, and the one action that brings it. */
  empty: React.ReactNode;
}

/** A list that stays short, such as keys or members: every record that was read is in the page, and several lists fit on one. */
export function ShortTable<T>({ list: newest, label, columns, keyOf, empty }: Props<T>) {
  const list = useStillRows(newest);
  if (list.error && list.records.length === 0) return <ReadingFailed error={list.error} what={label} />;
  if (list.isFirst) return <Reading />;
  if (list.records.length === 0) return <div className="empty">{empty}</div>;
  const tracks = { gridTemplateColumns: columns.map(({ width }) => width).join(' ') };
  return (
    <>
      <div role="table" aria-label={label}>
        <div className="srow shead" role="row" style={tracks}>
          {columns.map(({ title, className, isWide }) => (
            <span key={title} role="columnheader" className={classes(className, isWide)}>
              {title}
            </span>
          ))}
        </div>
        {list.records.map((record) => (
          <div key={keyOf(record)} data-id={keyOf(record)} className="srow" role="row" style={tracks}>
            {columns.map(({ title, className, isWide, cell }) => (
              <span key={title} role="cell" data-title={title} className={classes(className, isWide)}>
                {cell(record)}
              </span>
            ))}
          </div>
        ))}
      </div>
      {list.hasMore ? (
        <p className="more-below">
          <button type="button" className="btn" onClick={list.readMore}>
            {words.showMore}
          </button>
        </p>
      ) : null}
    </>
  );
}

function classes(className = '', isWide = false): string {
  return isWide ? `${className} m-no` : className;
}
