import { Podplane, PodplaneError } from '@podplane/sdk'

// The errors that the SDK throws when no plane answers, or another server does. Arguments: the plane. Prints its results as one line of
// JSON.

declare const process: { argv: string[] }

const [baseUrl = ''] = process.argv.slice(2)
const apiKey = 'pp_none'

/** An error of the plane, by its members; any other by its name. */
async function thrown(plane: Podplane): Promise<unknown> {
  try {
    return await plane.listPods()
  } catch (error) {
    if (!(error instanceof PodplaneError)) return error instanceof Error ? error.name : error
    return { message: error.message, status: error.status, problem: error.problem, type: error.headers.get('content-type') }
  }
}

const answering = (answer: (request: Request) => Promise<Response>, timeoutMs?: number) =>
  new Podplane({
    baseUrl: 'http://plane.invalid',
    apiKey,
    fetch: (input, init) => answer(new Request(input, init)),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })
const page = async () => new Response('<h1>Bad Gateway</h1>', { status: 502, headers: { 'content-type': 'text/html' } })
const silence = (request: Request) =>
  new Promise<Response>((_, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason))
  })

console.log(
  JSON.stringify({
    key: await thrown(new Podplane({ baseUrl: `${baseUrl}/`, apiKey })),
    page: await thrown(answering(page)),
    silence: await thrown(answering(silence, 10)),
    nobody: await thrown(new Podplane({ baseUrl: 'http://127.0.0.1:1', apiKey })),
  }),
)
