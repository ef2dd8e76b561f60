/** A kind of router as the makers' catalogue has it; a test compares them. */
export interface FleetModel {
  model: string;
  board: string;
  architecture: string;
  /** In router names: `riga-tower-2-ap1`. */
  role: 'core' | 'gw' | 'sw' | 'ap' | 'cpe' | 'lte';
  memoryMb: number;
  diskMb: number;
  /** How many of a hundred routers are of it. */
  share: number;
  /** Ethernet ports. */
  ports: number;
  /** Sensors, with an ordinary value each. */
  temperatures: Readonly<Record<string, number>>;
  hasTwoSupplies?: boolean;
}

type Row = Omit<FleetModel, 'model' | 'board' | 'architecture' | 'role'>;

function row(model: string, board: string, architecture: string, role: FleetModel['role'], rest: Row): FleetModel {
  return { model, board, architecture, role, ...rest };
}

const big = { 'cpu-temperature': 52, 'board-temperature1': 38, 'sfp-temperature': 41 };

export const MODELS: readonly FleetModel[] = [
  row('CCR2216-1G-12XS-2XQ', 'CCR2216-1G-12XS-2XQ', 'arm64', 'core', {
    memoryMb: 16_384,
    diskMb: 128,
    share: 1,
    ports: 1,
    temperatures: big,
    hasTwoSupplies: true,
  }),
  row('CCR2116-12G-4S+', 'CCR2116-12G-4S+', 'arm64', 'core', {
    memoryMb: 16_384,
    diskMb: 128,
    share: 3,
    ports: 12,
    temperatures: big,
    hasTwoSupplies: true,
  }),
  row('CCR2004-1G-12S+2XS', 'CCR2004-1G-12S+2XS', 'arm64', 'core', {
    memoryMb: 4096,
    diskMb: 128,
    share: 5,
    ports: 1,
    temperatures: big,
    hasTwoSupplies: true,
  }),
  row('RB5009UG+S+IN', 'RB5009UG+S+', 'arm64', 'gw', {
    memoryMb: 1024,
    diskMb: 1024,
    share: 20,
    ports: 8,
    temperatures: { 'cpu-temperature': 46 },
  }),
  row('RB4011iGS+RM', 'RB4011iGS+', 'arm', 'gw', { memoryMb: 1024, diskMb: 512, share: 12, ports: 10, temperatures: { temperature: 41 } }),
  row('RB3011UiAS-RM', 'RB3011UiAS', 'arm', 'gw', { memoryMb: 1024, diskMb: 128, share: 5, ports: 10, temperatures: { temperature: 37 } }),
  row('CRS326-24G-2S+RM', 'CRS326-24G-2S+', 'arm', 'sw', {
    memoryMb: 512,
    diskMb: 16,
    share: 8,
    ports: 24,
    temperatures: { temperature: 43 },
  }),
  row('CRS328-24P-4S+RM', 'CRS328-24P-4S+', 'arm', 'sw', {
    memoryMb: 512,
    diskMb: 16,
    share: 6,
    ports: 24,
    temperatures: { temperature: 49 },
  }),
  row('wAPG-5HaxD2HaxD', 'wAP ax', 'arm', 'ap', { memoryMb: 256, diskMb: 128, share: 10, ports: 2, temperatures: {} }),
  row('C52iG-5HaxD2HaxD-TC', 'hAP ax^2', 'arm64', 'cpe', { memoryMb: 1024, diskMb: 128, share: 10, ports: 5, temperatures: {} }),
  row('RBD52G-5HacD2HnD-TC', 'hAP ac^2', 'arm', 'cpe', { memoryMb: 128, diskMb: 16, share: 8, ports: 5, temperatures: {} }),
  row('RB750Gr3', 'hEX', 'mmips', 'cpe', { memoryMb: 256, diskMb: 16, share: 7, ports: 5, temperatures: { temperature: 39 } }),
  row('SXTR&R11e-LTE7', 'SXT LTE7', 'mipsbe', 'lte', { memoryMb: 64, diskMb: 16, share: 5, ports: 1, temperatures: {} }),
];

/** What runs in the field: mostly recent, some long forgotten. The second number is the share of a hundred. */
export const VERSIONS: readonly (readonly [string, number])[] = [
  ['7.20.4 (stable)', 26],
  ['7.19.6 (stable)', 24],
  ['7.18.2 (stable)', 20],
  ['7.16.2 (stable)', 9],
  ['7.12.2 (stable)', 7],
  ['7.6 (stable)', 3],
  ['6.49.18 (long-term)', 7],
  ['6.49.10 (long-term)', 3],
  ['6.48.6 (long-term)', 1],
];
