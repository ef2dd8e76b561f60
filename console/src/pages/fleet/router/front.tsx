import { words } from './words.ts';

/** A group of equal ports on the front of a device. */
interface Ports {
  count: number;
  kind: string;
}

/**
 * MikroTik names many products after their ports: `CRS326-24G-2S+` has 24 gigabit ports and 2 for SFP+. Others do not say, and none is drawn.
 */
export function portsOf(model: string): Ports[] {
  const parts = model.split('-').slice(1);
  return parts.flatMap((part) => {
    const groups = [...part.matchAll(/(\d+)(G|S\+|S|XS|XG|XQ|Q\+|P|C)(?=\d|\+|$|[A-Z])/g)];
    return groups.map(([, count, kind]) => ({ count: Number(count), kind: kind! }));
  });
}

/** More would be no picture. */
const MOST_PORTS = 60;
const PORT = { width: 9, height: 8, gap: 2 };

/** A drawing of the front with the ports that the product's name tells of. */
export function Front({ model }: { model: string }) {
  const groups = portsOf(model);
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  if (total === 0 || total > MOST_PORTS) return null;
  let x = 10;
  const drawn = groups.map((group) => {
    const rows = group.count > 8 ? 2 : 1;
    const columns = Math.ceil(group.count / rows);
    const left = x;
    x += columns * (PORT.width + PORT.gap) + 12;
    return { ...group, rows, left, width: columns * (PORT.width + PORT.gap) - PORT.gap };
  });
  const said = groups.map(({ count, kind }) => `${count} ${words.front.kinds[kind]}`).join(', ');
  return (
    <svg className="front" viewBox={`0 0 ${Math.max(x, 120)} 46`} role="img" aria-label={words.front.label(model, said)}>
      <rect x=".5" y=".5" width={Math.max(x, 120) - 1} height="45" rx="3" fill="none" stroke="var(--sb-edge)" />
      {drawn.map(({ count, kind, rows, left, width }) => (
        <g key={left}>
          {Array.from({ length: count }, (_, index) => (
            <rect
              key={index}
              x={left + Math.floor(index / rows) * (PORT.width + PORT.gap)}
              y={8 + (rows === 1 ? 7 : (index % rows) * (PORT.height + PORT.gap))}
              width={PORT.width}
              height={PORT.height}
              fill="none"
              stroke="var(--sb-edge)"
            />
          ))}
          <text x={left + width / 2} y="39" textAnchor="middle" fontSize="8" fill="var(--sb-faint)">
            {count} {words.front.kinds[kind]}
          </text>
        </g>
      ))}
    </svg>
  );
}
