import { afterAll, expect, type Reply } from '../harness.ts'
import { graphql } from './graphql.ts'

/** The documents that published clients send, by client and name, each as it is on the wire. */
const DOCUMENTS = import.meta.glob<string>('../../worker/graphql/documents/*/*.graphql', { query: '?raw', import: 'default', eager: true })

/** The variables and texts sent with a document. */
export interface Sent {
  variables?: Record<string, unknown> | null
  /** Inline texts of the document, each with its replacement: the ids of a recorded call differ from those of a test. */
  inline?: Readonly<Record<string, string>>
  headers?: Record<string, string>
}

/** Sends the documents of one client. At the end of its file, every document of the client must have been sent. */
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
  /** Sends a document that must succeed, and returns its data. */
  const play = async (key: string | null, name: string, sent?: Sent): Promise<Reply['body']> => {
    const { status, body } = await send(key, name, sent)
    expect({ name, status, errors: body.errors }).toEqual({ name, status: 200, errors: undefined })
    return body.data
  }
  return { send, play }
}
