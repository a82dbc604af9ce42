import { Podplane } from '@podplane/sdk'
import { account } from './account.ts'
import { bills, spend, stops } from './bills.ts'
import { catalog } from './catalog.ts'
import { compute } from './compute.ts'
import { resources } from './resources.ts'
import { remembering } from './tour.ts'

// One round of every operation of a plane over the SDK. Arguments: the plane, a key, the key of another user, a data center. Prints its
// results and the operations that it called as one line of JSON.

declare const process: { argv: string[] }

const [baseUrl = '', apiKey = '', guestKey = '', dataCenter = ''] = process.argv.slice(2)
const called = new Set<string>()
const plane = remembering(new Podplane({ baseUrl, apiKey }), called)
const guest = remembering(new Podplane({ baseUrl, apiKey: guestKey }), called)

const [first, second, third] = await Promise.all([resources(plane, dataCenter), compute(plane), account(plane, guest)])
const seen = {
  ...first,
  ...second,
  ...third,
  catalog: await catalog(plane, dataCenter),
  bills: await bills(plane),
  spend: await spend(plane),
  stops: await stops(plane),
}
console.log(JSON.stringify({ called: [...called].sort(), seen }))
