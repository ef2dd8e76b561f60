import './story-rails.css';
import { useRef } from 'react';
import { exactTime, lengthOf } from '../parts/times.ts';
import { Axis } from './axis.tsx';
import { place } from './labels.ts';
import type { Placed } from './labels.ts';
import { Lanes } from './lanes.tsx';
import type { Lane } from './lanes.tsx';
import type { Rails } from './pieces.ts';
import { RailPicture } from './rail-picture.tsx';
import { agentReasons, routerReasons, shareHeard } from './reasons.ts';
import type { Deed, Reason } from './reasons.ts';
import { STORY } from './shapes.ts';
import { useWidth } from './use-width.ts';
import { words } from './words.ts';

/** Height of one level of reasons, pixels. */
const LEVEL_PX = 34;
/** Between the rail and the first level, pixels. */
const FOOT_PX = 8;
/** A steel piece that is wider carries the fact that held, pixels. */
const FACT_PX = 90;

interface Props {
  rails: Rails;
  /** Jobs that may explain a break. */
  deeds: readonly Deed[];
  lanes: readonly Lane[];
}

/** The two rails of a router, large: the reasons stand where they break, and below, on the same axis, what was done meanwhile. */
export function StoryRails({ rails, deeds, lanes }: Props) {
  const axis = useRef<HTMLDivElement>(null);
  const width = useWidth(axis);
  const agent = agentReasons(rails);
  const router = routerReasons(rails, deeds);
  const agentAt = useReasonPlaces(agent, rails, width);
  const routerAt = useReasonPlaces(router, rails, width);
  return (
    <figure className="story" aria-label={words.story(exactTime(new Date(rails.from).toISOString()))}>
      <span />
      <Reasons side="up" {...agentAt} />
      <SideName {...words.sides.agent} share={shareHeard(rails.agent)} folded={agentAt.folded} />
      <Rail side="agent" rails={rails} width={width} />
      <span style={{ height: 4 }} />
      <span />
      <SideName {...words.sides.router} share={shareHeard(rails.router)} folded={routerAt.folded} />
      <Rail side="router" rails={rails} width={width} />
      <span />
      <Reasons side="down" {...routerAt} />
      <span />
      <Axis ref={axis} span={rails} width={width} />
      <Lanes lanes={lanes} span={rails} width={width} />
      <BreaksTable reasons={[...agent, ...router]} />
    </figure>
  );
}

interface SideNameProps {
  name: string;
  share: number | null;
  folded: number;
  heard: (share: string) => string;
}

function SideName({ name, share, folded, heard }: SideNameProps) {
  const said = share === null ? words.nobodyKnew : words.share(share);
  return (
    <>
      <span className="side-name">
        {name}
        <small title={share === null ? undefined : heard(said)}>{folded === 0 ? said : words.moreBreaks(folded)}</small>
      </span>
      <span className="rail-head">
        <b>{name}</b> <span>{share === null ? said : heard(said)}</span>
      </span>
    </>
  );
}

function Rail({ side, rails, width }: { side: 'agent' | 'router'; rails: Rails; width: number }) {
  const scale = width / (rails.to - rails.from);
  return (
    <div className="plot">
      <RailPicture rails={rails} size={STORY} only={side} />
      {rails[side].map(({ kind, fact, from, to }) => {
        const wide = (to - from) * scale;
        if (kind !== 'heard' || fact === undefined || wide < FACT_PX) return null;
        return (
          <span key={from} className="held-fact id m-no" style={{ left: (from - rails.from) * scale, width: wide }}>
            {fact}
          </span>
        );
      })}
    </div>
  );
}

interface ReasonPlaces {
  placed: readonly Placed<Reason>[];
  folded: number;
  width: number;
}

/** The canvas that measures texts, made once. */
let measuring: CanvasRenderingContext2D | null | undefined;

function widthOf(text: string, weight: number): number {
  measuring ??= document.createElement('canvas').getContext('2d');
  if (!measuring) return text.length * 7;
  measuring.font = `${weight} 12px InterVariable, system-ui, sans-serif`;
  return measuring.measureText(text).width;
}

function useReasonPlaces(reasons: readonly Reason[], { from, to }: Rails, width: number): ReasonPlaces {
  const wanted = reasons.map((label) => ({
    label,
    x: Math.min(((label.from - from) / (to - from)) * width, width - 3),
    width: Math.max(widthOf(label.strong, 600), widthOf(label.weak, 400)) + 9,
    weight: (label.isOpen ? Number.MAX_SAFE_INTEGER / 2 : 0) + label.to - label.from,
  }));
  return { ...(width === 0 ? { placed: [], folded: 0 } : place(wanted, width)), width };
}

const COLOUR: Record<Reason['kind'], string> = {
  not: 'c-not',
  away: 'c-away',
  unknown: 'c-unknown',
  unasked: 'c-never',
  heard: '',
  never: '',
};

function Reasons({ side, placed, width }: ReasonPlaces & { side: 'up' | 'down' }) {
  const levels = placed.length === 0 ? 0 : Math.max(...placed.map(({ level }) => level)) + 1;
  return (
    <div className={`why ${side} m-no`} style={{ height: levels * LEVEL_PX + FOOT_PX }} aria-hidden="true">
      {placed.map(({ label, x, level, isLeft }) => {
        const foot = level * LEVEL_PX + 4;
        const place = isLeft ? { right: width - x } : { left: x };
        return (
          <span
            key={label.from}
            className={`${COLOUR[label.kind]}${isLeft ? ' to-left' : ''}`}
            style={{ ...place, ...(side === 'up' ? { paddingBottom: foot } : { paddingTop: foot }) }}
          >
            <b>{label.strong}</b>
            <em>{label.weak}</em>
          </span>
        );
      })}
    </div>
  );
}

/** The same breaks for those who do not see the rails. */
function BreaksTable({ reasons }: { reasons: readonly Reason[] }) {
  return (
    // A table takes the room that it needs, whatever its class says: it would make a phone's page wider.
    <div className="sr">
      <table>
        <caption>{words.breaks.title}</caption>
        <thead>
          <tr>
            <th>{words.breaks.began}</th>
            <th>{words.breaks.length}</th>
            <th>{words.breaks.what}</th>
          </tr>
        </thead>
        <tbody>
          {reasons.map(({ kind, from, to, strong, weak }) => (
            <tr key={`${kind} ${from}`}>
              <td>{exactTime(new Date(from).toISOString())}</td>
              <td>{lengthOf(to - from)}</td>
              <td>
                {strong}, {weak}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
