import { type DemoFile, dataDirPath, demoFilePath, readDemoFile } from '../local/data-dir.ts'
import { errorText, OperatorError } from '../node/fail.ts'

/** The plane that a command speaks to. */
export interface Target {
  url: string
  operatorKey: string
}

/**
 * `--url` and `PODPLANE_OPERATOR_KEY` name a plane; without them the one of the local data directory is meant. The key of
 * the local plane is sent to no other address.
 */
export function findTarget(urlFlag: string | undefined, env: NodeJS.ProcessEnv): Target {
  const dataDir = dataDirPath(env)
  const local = urlFlag !== undefined && env.PODPLANE_OPERATOR_KEY ? undefined : readLocalPlane(dataDir)
  const url = urlFlag ?? local?.url
  if (url === undefined) {
    throw new OperatorError(
      `no plane runs on this data directory (${demoFilePath(dataDir)} is missing); run npm start first, or pass --url and set PODPLANE_OPERATOR_KEY`,
    )
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new OperatorError(`--url ${url} is not an http or https address`)
  const operatorKey = env.PODPLANE_OPERATOR_KEY || (local !== undefined && sameOrigin(url, local.url) ? local.operatorKey : undefined)
  if (operatorKey === undefined) throw new OperatorError(`set PODPLANE_OPERATOR_KEY to the operator key of ${url}`)
  return { url, operatorKey }
}

function readLocalPlane(dataDir: string): DemoFile | undefined {
  try {
    return readDemoFile(dataDir)
  } catch (error) {
    throw new OperatorError(
      `the data directory ${dataDir} cannot be read: ${errorText(error)}; set PODPLANE_DATA to the one of npm start, or pass --url and set PODPLANE_OPERATOR_KEY`,
    )
  }
}

function sameOrigin(a: string, b: string): boolean {
  return new URL(a).origin === new URL(b).origin
}
