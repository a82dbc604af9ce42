import { snapshot, VICTIMS } from '../../support/access/victims.ts'
import { api, createAccount, describe, expect, it, send, teamOf } from '../../support/harness.ts'
import { graphql } from '../../support/http/graphql.ts'
import { argumentsWith, documentOf, fieldsOf, type Guarded } from '../../support/http/graphql-schema/fields.ts'

// Every field with an argument, with an id of another account in every place that takes one: the reply is the one for an unknown id.

const KINDS = [
  '/v2/clusters/',
  '/v2/pods/',
  '/v2/serverless/',
  '/v2/templates/',
  '/v2/network-volumes/',
  '/v2/global-volumes/',
  '/v2/registries/',
  '/v2/account/secrets/',
]
/** An id of the same form that does not exist. */
const nothingLike = (id: string) => `${id.slice(0, -6)}zzzzzz`
const hasArguments = ({ field }: Guarded) => field.args.length > 0
const QUERIES = fieldsOf('Query').filter(hasArguments)
const MUTATIONS = fieldsOf('Mutation').filter(hasArguments)
const OF_USER = fieldsOf('User').filter(hasArguments)

function documentsOf(id: string): string[] {
  const withId = ({ field }: Guarded) => argumentsWith(id, field)
  return [
    documentOf('query', QUERIES, withId),
    documentOf('query', OF_USER, withId).replace('query {', 'query { myself {').concat(' }'),
    ...MUTATIONS.map((one) => documentOf('mutation', [one], withId)),
  ]
}

describe('[GQL-39] ids of other accounts', () => {
  it.each(KINDS)('%s get the reply for unknown ids, and nothing of them changes', async (kind) => {
    const victim = await VICTIMS[kind]?.()
    const id = victim?.params.id
    if (!victim || id === undefined) throw new Error(`no victim of ${kind}`)
    const before = await snapshot(victim)
    const [otherTenant, other] = [await createAccount(), await createAccount()]
    const received = async (key: string, named: string) => {
      const answers: unknown[] = []
      for (const document of documentsOf(named)) {
        const { status, body } = await graphql(key)(document)
        answers.push({ status, ...withoutIds(body, named) })
      }
      return answers
    }
    expect(await received(otherTenant.key, id)).toEqual(await received(other.key, nothingLike(id)))
    expect(await snapshot(victim)).toEqual(before)
  })

  // The way of authentication is the same for all kinds; three of them suffice.
  it.each(['/v2/pods/', '/v2/serverless/', '/v2/account/secrets/'])(
    '[GQL-2] %s get it too with a key in the address that names the team of the owner',
    async (kind) => {
      const victim = await VICTIMS[kind]?.()
      const id = victim?.params.id
      if (!victim || id === undefined) throw new Error(`no victim of ${kind}`)
      const team = await teamOf(victim.owner)
      const before = await snapshot(victim)
      const received = async (named: string) => {
        const { key } = await createAccount()
        const answers: unknown[] = []
        for (const query of documentsOf(named)) {
          const headers = { 'Content-Type': 'application/json', 'X-Team-Id': team }
          const answer = await send(`/graphql?api_key=${key}`, { method: 'POST', headers, body: JSON.stringify({ query }) })
          answers.push({ status: answer.status, ...withoutIds(await answer.json(), named) })
        }
        return answers
      }
      expect(await received(id)).toEqual(await received(nothingLike(id)))
      expect(await snapshot(victim)).toEqual(before)
    },
  )

  it('are in no list of the account', async () => {
    // One after another, because some of them reserve hosts.
    const victims: unknown[] = []
    for (const kind of KINDS) victims.push(await VICTIMS[kind]?.())
    const { key } = await createAccount()
    const { body } = await graphql(key)(`{ myself { pods { id } clusters { id } endpoints { id } networkVolumes { id } podTemplates { id }
      containerRegistryCreds { id } secrets { id } } }`)
    expect(victims).not.toContain(undefined)
    expect(body.data.myself).toEqual({
      pods: [],
      clusters: [],
      endpoints: [],
      networkVolumes: [],
      podTemplates: [],
      containerRegistryCreds: [],
      secrets: [],
    })
    expect((await api(key).get('/v2/pods')).body.pods).toEqual([])
  })
})

/** Replaces the sent id and the ids of created objects, which differ between the two replies; the rest must be equal. */
function withoutIds(body: { data?: unknown; errors?: { message: string }[] }, id: string) {
  const text = JSON.stringify({ data: body.data, errors: body.errors?.map(({ message }) => message) })
  return JSON.parse(text.replaceAll(id, '<id>').replaceAll(/"id":"[^"<]+"/g, '"id":"made"'))
}
