export const words = {
  devices: {
    label: 'Devices of this router',
    none: 'What this router sees in its ARP table and its DHCP leases would be here. The agent reads them about once a minute.',
  },
  faults: {
    label: 'Faults of this router',
    none: 'Nothing was ever wrong with this router that the rules of health look for.',
    when: 'When',
    open: 'open',
  },
  forwards: {
    label: 'Forwards of this router',
    none: 'Doors to one port behind this router, for one address and for a time, would be here.',
    columns: { target: 'Target', state: 'State', client: 'For', opened: 'Opened', ends: 'Ends' },
  },
  jobs: {
    label: 'Jobs of this router',
    none: 'Scripts that were sent to this router would be here, with what each of them answered.',
    columns: { job: 'Job', result: 'Result', made: 'Made', ended: 'Ended' },
  },
  health: {
    what: 'The measurements',
    none: 'Nothing was measured in this time. The first step of a quarter of an hour is stored when it is over.',
    cpu: { title: 'Processor', unit: '%' },
    memory: { title: 'Memory used', unit: '%' },
    disk: { title: 'Disk used', unit: '%' },
    temperature: { title: 'Temperature', unit: '°C' },
    voltage: { title: 'Voltage', unit: 'V' },
  },
  chart: {
    summary: (last: string, highest: string, unit: string) => `last ${last} ${unit}, highest ${highest} ${unit}`,
    none: 'nothing was measured',
    value: (value: string, unit: string) => `${value} ${unit}`,
  },
};
