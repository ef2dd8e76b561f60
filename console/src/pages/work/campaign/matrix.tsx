import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { CampaignTarget } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { currentTheme, onThemeChange } from '../../../look/theme.ts';
import { Section } from '../../../parts/section.tsx';
import { WorkLamp, workWord } from '../../../parts/work-lamp.tsx';
import type { Work } from '../../../parts/work.ts';
import { reasonWords } from '../words.ts';
import { cellOf, indexAt, planOf } from './matrix-plan.ts';
import type { MatrixPlan } from './matrix-plan.ts';
import { words, workOfTarget } from './words.ts';

const LEGEND: readonly Work[] = ['running', 'failed', 'rolled_back', 'unknown', 'expired', 'waiting'];

/** Every router of a campaign as a lamp, in the order in which they run. Five thousand of them are one canvas. */
export function Matrix({ targets }: { targets: readonly CampaignTarget[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [pointed, setPointed] = useState<number>();
  const theme = useSyncExternalStore(onThemeChange, currentTheme);
  const { routers } = useFleet();
  const navigate = useNavigate();
  const canaries = targets.filter(({ canary }) => canary).length;
  const never = targets.some(({ status }) => status === 'skipped') ? (['skipped'] as const) : [];
  const plan = useMemo(() => (width === 0 ? undefined : planOf(targets.length, canaries, width)), [targets.length, canaries, width]);

  useEffect(() => {
    const element = canvas.current?.parentElement;
    if (!element) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    void theme;
    if (canvas.current && plan) draw(canvas.current, plan, targets, canaries);
  }, [plan, targets, canaries, theme]);

  const at = (event: React.PointerEvent | React.MouseEvent): number | undefined => {
    const box = canvas.current?.getBoundingClientRect();
    return box && plan ? indexAt(plan, { x: event.clientX - box.left, y: event.clientY - box.top }, canaries, targets.length) : undefined;
  };
  const target = pointed === undefined ? undefined : targets[pointed];
  return (
    <Section
      title={words.matrix.title}
      small={words.matrix.order(targets.length.toLocaleString('en'))}
      aside={
        <span className="legend" aria-hidden="true">
          <span className="lamp">
            <i className="dot-done" />
            {words.matrix.done}
          </span>
          {[...LEGEND, ...never].map((work) => (
            <span className="lamp" key={work}>
              <WorkLamp work={work} size={11} />
              {workWord(work)}
            </span>
          ))}
        </span>
      }
    >
      <div className="matrix">
        {/* Everything that can be clicked here is a link in the lists beside it. */}
        {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions */}
        <canvas
          ref={canvas}
          role="img"
          aria-label={summaryOf(targets)}
          onPointerMove={(event) => setPointed(at(event))}
          onPointerLeave={() => setPointed(undefined)}
          onClick={(event) => {
            const found = targets[at(event) ?? -1];
            if (found?.job_id) void navigate({ to: '/jobs/$routerId/$jobId', params: { routerId: found.router_id, jobId: found.job_id } });
          }}
        />
      </div>
      <p className="t2 dim pointed" aria-hidden="true">
        {target
          ? words.matrix.pointed(
              routers.get(target.router_id)?.identity ?? words.matrix.removed,
              workWord(workOfTarget(target)),
              reasonWords(target.reason),
            )
          : canaries > 0
            ? words.matrix.canaries(canaries)
            : ''}
      </p>
    </Section>
  );
}

/** How many routers have which result, for whom the picture is not. */
export function summaryOf(targets: readonly CampaignTarget[]): string {
  const counts = new Map<Work, number>();
  for (const target of targets) counts.set(workOfTarget(target), (counts.get(workOfTarget(target)) ?? 0) + 1);
  return words.matrix.summary([...counts].map(([work, count]) => [workWord(work), count]));
}

const TOKENS: Record<Work, string> = {
  done: '--sb-bar-up',
  running: '--sb-ink',
  armed: '--sb-ink',
  failed: '--sb-not',
  rolled_back: '--sb-away',
  unknown: '--sb-unknown',
  waiting: '--sb-faint',
  expired: '--sb-faint',
  canceled: '--sb-faint',
  skipped: '--sb-line',
};

function draw(canvas: HTMLCanvasElement, plan: MatrixPlan, targets: readonly CampaignTarget[], canaries: number): void {
  const density = globalThis.devicePixelRatio;
  const [width, height] = [plan.columns * plan.pitch, plan.rows * plan.pitch];
  canvas.width = Math.ceil(width * density);
  canvas.height = Math.ceil(height * density);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  if (!context) return;
  const style = getComputedStyle(canvas);
  const colours = new Map<string, string>();
  const colour = (name: string): string => {
    const known = colours.get(name) ?? style.getPropertyValue(name).trim();
    colours.set(name, known);
    return known;
  };
  context.scale(density, density);
  const size = Math.min(12, plan.pitch * 0.62);
  for (const [index, target] of targets.entries()) {
    const { column, row } = cellOf(plan, index, canaries);
    const work = workOfTarget(target);
    context.save();
    context.translate(column * plan.pitch + plan.pitch / 2, row * plan.pitch + plan.pitch / 2);
    context.scale(size / 16, size / 16);
    context.fillStyle = colour(TOKENS[work]);
    context.strokeStyle = context.fillStyle;
    shape(context, work);
    context.restore();
  }
}

/** The lamps of work-lamp.tsx, about the middle. */
function shape(context: CanvasRenderingContext2D, work: Work): void {
  const circle = (radius: number): void => {
    context.beginPath();
    context.arc(0, 0, radius, 0, 2 * Math.PI);
  };
  switch (work) {
    case 'done':
      circle(6.6);
      context.fill();
      return;
    case 'failed':
      context.fillRect(-5.5, -5.5, 11, 11);
      return;
    case 'waiting':
      circle(2.1);
      context.fill();
      return;
    case 'unknown':
      context.lineWidth = 2;
      context.stroke(new Path2D('M0 -5.8 6.4 5.4H-6.4z'));
      return;
    case 'rolled_back':
      context.lineWidth = 2;
      context.stroke(new Path2D('M-5 -2h6.2a3.4 3.4 0 0 1 0 6.8H-2.5M-2 -5.2 -5.2 -2 -2 1.2'));
      return;
    case 'running':
    case 'armed':
      context.lineWidth = 1.8;
      circle(4.9);
      context.stroke();
      context.beginPath();
      context.arc(0, 0, 4.9, -Math.PI / 2, Math.PI / 2);
      context.fill();
      return;
    case 'expired':
    case 'canceled':
    case 'skipped':
      context.lineWidth = 1.8;
      circle(4.9);
      context.stroke();
  }
}
