export const words = {
  title: 'Devices',
  filter: 'Name, maker, IP or MAC address',
  none: 'What routers see in their ARP tables and DHCP leases would be here.',
  noMatch: 'No device matches.',
  noMatchField: (field: string) =>
    `No device matches. This filter has no field ${field}: it looks for a name, a maker, an IP address or a MAC address.`,
  columns: {
    device: 'Device',
    address: 'IP address',
    mac: 'MAC address',
    maker: 'Maker',
    router: 'Router',
    interface: 'Interface',
    seen: 'Last seen',
    actions: 'Actions',
  },
  gone: 'gone',
  madeUp: 'MAC address made by software',
  /** The deed, on a button. */
  name: 'Name',
  dialog: {
    title: (device: string) => `Name ${device}`,
    name: 'Name',
    hint: 'At all sites of your team. Empty: no name.',
    cancel: 'Cancel',
    save: 'Save',
  },
};
