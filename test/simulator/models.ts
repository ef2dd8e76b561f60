/** What differs between boards. Figures are those the boards themselves print. */
export interface SensorReading {
  name: string;
  value: string;
  type: 'V' | 'C' | 'RPM' | 'W' | 'A' | '';
}

export interface Model {
  boardName: string;
  /** `/system/routerboard model`; undefined for CHR and x86, which are no RouterBOARDs. */
  model: string | undefined;
  architecture: string;
  cpu: string;
  cpuCount: number;
  cpuFrequency: string;
  totalMemory: number;
  totalDisk: number;
  firmwareType: string;
  factory: string;
  ethernet: number;
  sfp: readonly string[];
  /** Only `flash/…` survives a reboot. */
  flashFolder: boolean;
  sensors: readonly SensorReading[];
  licenseLevel: string;
}

const MIB = 1024 * 1024;
const volts = (value: string): SensorReading => ({ name: 'voltage', value, type: 'V' });
const celsius = (value: string, name = 'temperature'): SensorReading => ({ name, value, type: 'C' });

const MODELS: readonly Model[] = [
  {
    boardName: 'hAP ac^2',
    model: 'RBD52G-5HacD2HnD',
    architecture: 'arm',
    cpu: 'ARM',
    cpuCount: 4,
    cpuFrequency: '716',
    totalMemory: 128 * MIB,
    totalDisk: 16 * MIB,
    firmwareType: 'ipq4000L',
    factory: '6.43.10',
    ethernet: 5,
    sfp: [],
    flashFolder: true,
    sensors: [],
    licenseLevel: '4',
  },
  {
    boardName: 'hEX',
    model: 'RB750Gr3',
    architecture: 'mmips',
    cpu: 'MIPS 1004Kc V2.15',
    cpuCount: 4,
    cpuFrequency: '880',
    totalMemory: 256 * MIB,
    totalDisk: 16 * MIB,
    firmwareType: 'mt7621L',
    factory: '6.44.6',
    ethernet: 5,
    sfp: [],
    flashFolder: true,
    sensors: [volts('23.9'), celsius('42')],
    licenseLevel: '4',
  },
  {
    boardName: 'RB4011iGS+',
    model: 'RB4011iGS+',
    architecture: 'arm',
    cpu: 'ARMv7',
    cpuCount: 4,
    cpuFrequency: '1400',
    totalMemory: 1024 * MIB,
    totalDisk: 512 * MIB,
    firmwareType: 'al2',
    factory: '6.45.9',
    ethernet: 10,
    sfp: ['sfp-sfpplus1'],
    flashFolder: false,
    sensors: [volts('24.2'), celsius('44')],
    licenseLevel: '5',
  },
  {
    boardName: 'CCR2004-1G-12S+2XS',
    model: 'CCR2004-1G-12S+2XS',
    architecture: 'arm64',
    cpu: 'ARM64',
    cpuCount: 4,
    cpuFrequency: '1700',
    totalMemory: 4096 * MIB,
    totalDisk: 128 * MIB,
    firmwareType: 'al64',
    factory: '6.47.9',
    ethernet: 1,
    sfp: ['sfp-sfpplus1', 'sfp-sfpplus2', 'sfp28-1', 'sfp28-2'],
    flashFolder: false,
    licenseLevel: '6',
    sensors: [
      celsius('45', 'cpu-temperature'),
      { name: 'fan1-speed', value: '4680', type: 'RPM' },
      { name: 'psu1-state', value: 'ok', type: '' },
      { name: 'psu2-state', value: 'fail', type: '' },
    ],
  },
  {
    boardName: 'CHR',
    model: undefined,
    architecture: 'x86_64',
    cpu: 'QEMU',
    cpuCount: 1,
    cpuFrequency: '2999',
    totalMemory: 384 * MIB,
    totalDisk: 89 * MIB,
    firmwareType: '',
    factory: '7.1',
    ethernet: 4,
    sfp: [],
    flashFolder: false,
    sensors: [],
    licenseLevel: 'free',
  },
  {
    boardName: 'x86',
    model: undefined,
    architecture: 'x86',
    cpu: 'Intel(R)',
    cpuCount: 2,
    cpuFrequency: '2400',
    totalMemory: 2048 * MIB,
    totalDisk: 1024 * MIB,
    firmwareType: '',
    factory: '6.40',
    ethernet: 3,
    sfp: [],
    flashFolder: false,
    sensors: [],
    licenseLevel: '5',
  },
];

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9+]/g, '');

export const MODEL_NAMES: readonly string[] = MODELS.map((model) => model.boardName);

/** Finds a model by board name or model number, whatever the spelling; throws RangeError naming the known ones. */
export function findModel(name: string): Model {
  const wanted = plain(name);
  const found = MODELS.find((model) => plain(model.boardName) === wanted || plain(model.model ?? '') === wanted);
  if (!found) throw new RangeError(`unknown model ${name}; known: ${MODEL_NAMES.join(', ')}`);
  return found;
}

/** hAP ac^2 on v6 says ARMv7; everything else is as listed. */
export function cpuName(model: Model, major: number): string {
  return model.cpu === 'ARM' && major < 7 ? 'ARMv7' : model.cpu;
}
