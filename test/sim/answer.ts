import { simulate } from './simulation.ts'

/** Plays a history in Node.js for a test in another runtime. */
export function answerSimulation(request: Request): Response {
  const { searchParams } = new URL(request.url)
  return Response.json(simulate(Number(searchParams.get('seed')), Number(searchParams.get('steps'))))
}
