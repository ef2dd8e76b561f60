export const words = {
  noSuchPage: 'There is no such page',
  why: 'The address may be mistyped, or what it named was removed.',
  allRouters: 'All routers',
};
