import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'http to the public internet',
    file: 'src/domain/webhook/url.ts',
    find: "(url.protocol === 'http:' && listed)",
    replace: "url.protocol === 'http:'",
  },
  {
    id: 'a trailing dot hides a name',
    file: 'src/domain/webhook/url.ts',
    find: "host.replace(/\\.+$/, '')",
    replace: 'host',
  },
  {
    id: 'credentials in a webhook URL',
    file: 'src/domain/webhook/url.ts',
    find: "url.username !== '' || url.password !== ''",
    replace: "url.username !== ''",
  },
  {
    id: 'IPv6 is public unless listed',
    file: 'src/domain/webhook/ip-address.ts',
    find: 'within(GLOBAL_IPV6) && ',
    replace: '',
  },
  {
    id: '172.16/12 read as /16',
    file: 'src/domain/webhook/ip-address.ts',
    find: '172.16.0.0/12',
    replace: '172.16.0.0/16',
  },
]
