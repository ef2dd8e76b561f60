export interface Place {
  /** As in router names. */
  code: string;
  name: string;
  latitude: number;
  longitude: number;
  time_zone: string;
}

const place = (time_zone: string) => {
  return (code: string, name: string, latitude: number, longitude: number): Place => ({ code, name, latitude, longitude, time_zone });
};
const lv = place('Europe/Riga');
const ee = place('Europe/Tallinn');
const lt = place('Europe/Vilnius');

/** Towns of three countries, where an invented provider has its sites. Positions are those of the towns, to about a kilometre. */
export const PLACES: readonly Place[] = [
  lv('riga', 'Rīga', 56.949, 24.106),
  ee('tln', 'Tallinn', 59.437, 24.754),
  lt('vno', 'Vilnius', 54.687, 25.28),
  lt('kun', 'Kaunas', 54.898, 23.904),
  ee('tartu', 'Tartu', 58.378, 26.729),
  lv('dgp', 'Daugavpils', 55.875, 26.536),
  lv('lpx', 'Liepāja', 56.505, 21.011),
  lt('klj', 'Klaipėda', 55.703, 21.144),
  ee('parnu', 'Pärnu', 58.386, 24.497),
  lv('jelg', 'Jelgava', 56.652, 23.713),
  lt('siau', 'Šiauliai', 55.934, 23.314),
  ee('narva', 'Narva', 59.377, 28.19),
  lv('vnt', 'Ventspils', 57.394, 21.565),
  lt('pnv', 'Panevėžys', 55.735, 24.357),
  lv('valm', 'Valmiera', 57.541, 25.427),
  ee('vilj', 'Viljandi', 58.364, 25.59),
  lv('rez', 'Rēzekne', 56.51, 27.334),
  lt('alyt', 'Alytus', 54.396, 24.046),
  ee('rakv', 'Rakvere', 59.346, 26.356),
  lv('cesis', 'Cēsis', 57.312, 25.275),
  lt('mari', 'Marijampolė', 54.559, 23.354),
  ee('haap', 'Haapsalu', 58.943, 23.541),
  lv('sigu', 'Sigulda', 57.154, 24.86),
  lt('uten', 'Utena', 55.498, 25.6),
  ee('kures', 'Kuressaare', 58.253, 22.485),
  lv('kuld', 'Kuldīga', 56.968, 21.974),
  lt('tels', 'Telšiai', 55.984, 22.247),
  ee('voru', 'Võru', 57.834, 27.017),
  lv('ogre', 'Ogre', 56.816, 24.614),
  lt('plun', 'Plungė', 55.911, 21.844),
  ee('paide', 'Paide', 58.886, 25.557),
  lv('madona', 'Madona', 56.854, 26.217),
  lt('birz', 'Biržai', 56.2, 24.756),
  ee('valga', 'Valga', 57.777, 26.047),
  lv('talsi', 'Talsi', 57.244, 22.587),
  lt('taur', 'Tauragė', 55.252, 22.29),
  ee('johvi', 'Jõhvi', 59.359, 27.421),
  lv('saldus', 'Saldus', 56.666, 22.494),
  lt('visag', 'Visaginas', 55.598, 26.438),
  ee('kard', 'Kärdla', 58.998, 22.749),
];
