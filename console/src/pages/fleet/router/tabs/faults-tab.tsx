import { useParams } from '@tanstack/react-router';
import { useRef } from 'react';
import { useList } from '../../../../data/use-list.ts';
import { SPANS } from '../../../../data/use-router-story.ts';
import { FAULT_COLUMNS } from '../../../../parts/fault-columns.tsx';
import { RecordTable } from '../../../../parts/record-table.tsx';
import { Section } from '../../../../parts/section.tsx';
import { useNow } from '../../../../parts/use-now.ts';
import { Axis } from '../../../../rails/axis.tsx';
import { Lanes } from '../../../../rails/lanes.tsx';
import type { Lane } from '../../../../rails/lanes.tsx';
import type { Span } from '../../../../rails/pieces.ts';
import { useWidth } from '../../../../rails/use-width.ts';
import { SpanChoice, useSpan } from '../span-choice.tsx';
import { words } from './words.ts';

const HOUR_MS = 3_600_000;

/** The faults of one router: one lane for each kind on an axis of time, and all of them as a list. */
export function FaultsTab() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  const list = useList('faults', 'listFaults', { path: { router_id: routerId }, query: { limit: 200 } });
  const hours = SPANS[useSpan()];
  const now = useNow(15_000);
  const kinds = [...new Set(list.records.map(({ type }) => type))];
  const lanes: Lane[] = kinds.map((kind) => ({
    name: kind.replaceAll('_', ' '),
    marks: list.records
      .filter(({ type }) => type === kind)
      .map(({ id, message, severity, created_at: at, resolved_at: until }) => ({
        id,
        at: Date.parse(at),
        until: until === null ? now : Date.parse(until),
        text: until === null ? words.faults.open : message,
        isBad: severity !== 'info',
      })),
  }));
  return (
    <div className="tab-body">
      {kinds.length === 0 ? null : (
        <Section title={words.faults.when} aside={<SpanChoice />}>
          <When lanes={lanes} span={{ from: now - hours * HOUR_MS, to: now }} />
        </Section>
      )}
      <RecordTable label={words.faults.label} columns={FAULT_COLUMNS} list={list} keyOf={({ id }) => id} empty={words.faults.none} />
    </div>
  );
}

/** Measured by itself: it comes when the faults are read. */
function When({ lanes, span }: { lanes: readonly Lane[]; span: Span }) {
  const axis = useRef<HTMLDivElement>(null);
  const width = useWidth(axis);
  return (
    <div className="story" aria-hidden="true">
      <span />
      <Axis ref={axis} span={span} width={width} />
      <Lanes lanes={lanes} span={span} width={width} />
    </div>
  );
}
