import { graphql } from './graphql.ts'
import { afterAll, expect, type Reply } from './harness.ts'

/** What published clients send, by client and name, each as it goes over the wire. */
const DOCUMENTS = import.meta.glob<string>('../worker/graphql/documents/*/*.graphql', { query: '?raw', import: 'default', eager: true })

/** What is sent with a document. */
export interface Sent {
  variables?: Record<string, unknown> | null
  /** Inline texts of the document, each with what stands there now: the ids of a recorded call are not those of a test. */
  inline?: Readonly<Record<string, string>>
  headers?: Record<string, string>
}

/** Sends the documents of one client. When its file ends, every document of the client has been sent. */
export function replayOf(client: string) {
  const texts = new Map(
    Object.entries(DOCUMENTS).flatMap(([path, text]) => {
      const [name, folder] = path.split('/').toReversed()
      return folder === client && name ? [[name.replace('.graphql', ''), text]] : []
    }),
  )
  const unsent = new Set(texts.keys())
  afterAll(() => expect([...unsent]).toEqual([]))
  const send = async (key: string | null, name: string, { variables, inline = {}, headers }: Sent = {}): Promise<Reply> => {
    const text = texts.get(name)
    if (text === undefined) throw new Error(`${client} has no document ${name}`)
    unsent.delete(name)
    const document = Object.entries(inline).reduce((changed, [from, to]) => {
      if (!changed.includes(`"${from}"`)) throw new Error(`${name} has no "${from}"`)
      return changed.replaceAll(`"${from}"`, JSON.stringify(to))
    }, text)
    return graphql(key)(document, variables, headers)
  }
  /** Sends one that has to succeed, and returns its data. */
  const play = async (key: string | null, name: string, sent?: Sent): Promise<Reply['body']> => {
    const { status, body } = await send(key, name, sent)
    expect({ name, status, errors: body.errors }).toEqual({ name, status: 200, errors: undefined })
    return body.data
  }
  return { send, play }
}
