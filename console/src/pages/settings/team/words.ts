export const words = {
  note: (team: string) => `${team} is one team on this control plane: nothing of it is seen by the others.`,
  name: 'Name',
  id: 'Id',
  members: 'Members',
  active: (count: number, isAtLeast: boolean) => `${count}${isAtLeast ? ' or more' : ''} active`,
  admins: 'Administrators',
  programs: {
    title: 'For programs',
    api: 'API',
    apiCopied: 'the address of the API',
    document: 'OpenAPI document',
    documentCopied: 'the address of the OpenAPI document',
    discovery: 'OpenID discovery',
    discoveryCopied: 'the address of the discovery document',
  },
};
