import type { NounName } from './nouns.ts'
import type { Side, Surface } from './surfaces.ts'

interface Exception {
  surface: Surface
  noun: NounName
  side: Side
  members: readonly string[]
  why: string
}

const STORED_FORM = 'the published schema has the stored form alone, `dockerArgs`'
const IN_CONSOLE = 'the console edits the stored form, `args`'
const UNPUBLISHED = 'the published schema does not have it'
const OWN = 'added to v2 after the published schema, and no client of GraphQL has asked for it'
const FEW_SET = 'few set it: `--body` has it'
const OF_TEMPLATE = 'the published schema shows it on the template of the endpoint alone'

/** Members that a surface lacks on purpose. A row that is not needed any more fails. */
export const EXCEPTIONS: readonly Exception[] = [
  { surface: 'graphql', noun: 'pod', side: 'request', members: ['cmd', 'entrypoint'], why: STORED_FORM },
  { surface: 'graphql', noun: 'pod', side: 'request', members: ['onHostLoss', 'idleStop'], why: OWN },
  { surface: 'graphql', noun: 'pod', side: 'request', members: ['locked'], why: 'the published mutations cannot lock a pod' },
  { surface: 'graphql', noun: 'pod', side: 'answer', members: ['cmd', 'entrypoint'], why: STORED_FORM },
  { surface: 'graphql', noun: 'pod', side: 'answer', members: ['actions', 'onHostLoss', 'idleStop', 'spend'], why: OWN },
  {
    surface: 'graphql',
    noun: 'pod',
    side: 'answer',
    members: ['cudaVersion', 'globalNetworking', 'stopAfter', 'terminateAfter'],
    why: UNPUBLISHED,
  },
  { surface: 'graphql', noun: 'endpoint', side: 'request', members: ['cmd', 'entrypoint'], why: STORED_FORM },
  { surface: 'graphql', noun: 'endpoint', side: 'request', members: ['cloud'], why: UNPUBLISHED },
  { surface: 'graphql', noun: 'endpoint', side: 'request', members: ['resultRetention'], why: OWN },
  {
    surface: 'graphql',
    noun: 'endpoint',
    side: 'answer',
    members: ['args', 'cmd', 'entrypoint', 'disk', 'image', 'ports', 'registry'],
    why: OF_TEMPLATE,
  },
  { surface: 'graphql', noun: 'endpoint', side: 'answer', members: ['requestUrls', 'cloud'], why: UNPUBLISHED },
  { surface: 'graphql', noun: 'endpoint', side: 'answer', members: ['resultRetention', 'spend'], why: OWN },
  { surface: 'graphql', noun: 'cluster', side: 'request', members: ['cmd', 'entrypoint'], why: STORED_FORM },
  { surface: 'graphql', noun: 'cluster', side: 'request', members: ['onHostLoss'], why: OWN },
  { surface: 'graphql', noun: 'cluster', side: 'request', members: ['startJupyter'], why: UNPUBLISHED },
  {
    surface: 'graphql',
    noun: 'cluster',
    side: 'answer',
    members: ['template', 'dataCenterId', 'network', 'primary'],
    why: UNPUBLISHED,
  },
  { surface: 'graphql', noun: 'cluster', side: 'answer', members: ['onHostLoss', 'spend'], why: OWN },
  { surface: 'graphql', noun: 'volume', side: 'request', members: ['type'], why: UNPUBLISHED },
  { surface: 'graphql', noun: 'volume', side: 'answer', members: ['type'], why: UNPUBLISHED },
  { surface: 'graphql', noun: 'volume', side: 'answer', members: ['sizeEnforced', 'usedBytes', 'usedAt'], why: OWN },
  { surface: 'graphql', noun: 'template', side: 'request', members: ['cmd', 'entrypoint'], why: STORED_FORM },
  { surface: 'graphql', noun: 'template', side: 'request', members: ['allowedCudaVersions'], why: UNPUBLISHED },
  { surface: 'graphql', noun: 'template', side: 'answer', members: ['cmd', 'entrypoint'], why: STORED_FORM },
  { surface: 'graphql', noun: 'template', side: 'answer', members: ['allowedCudaVersions'], why: UNPUBLISHED },
  { surface: 'console', noun: 'pod', side: 'request', members: ['cmd'], why: IN_CONSOLE },
  { surface: 'console', noun: 'pod', side: 'request', members: ['startJupyter'], why: 'a template starts Jupyter' },
  { surface: 'console', noun: 'pod', side: 'answer', members: ['cmd'], why: IN_CONSOLE },
  { surface: 'console', noun: 'endpoint', side: 'request', members: ['cmd'], why: IN_CONSOLE },
  { surface: 'console', noun: 'endpoint', side: 'answer', members: ['cmd'], why: IN_CONSOLE },
  { surface: 'console', noun: 'cluster', side: 'request', members: ['cmd'], why: IN_CONSOLE },
  { surface: 'console', noun: 'cluster', side: 'request', members: ['startJupyter'], why: 'a template starts Jupyter' },
  {
    surface: 'console',
    noun: 'volume',
    side: 'answer',
    members: ['sizeEnforced'],
    why: 'the page of the machine shows which sizes are enforced',
  },
  { surface: 'console', noun: 'template', side: 'request', members: ['cmd'], why: IN_CONSOLE },
  { surface: 'console', noun: 'template', side: 'answer', members: ['cmd'], why: IN_CONSOLE },
  {
    surface: 'console',
    noun: 'template',
    side: 'request',
    members: ['category', 'allowedCudaVersions'],
    why: 'not in its form yet; the API and the command line have it',
  },
  {
    surface: 'console',
    noun: 'template',
    side: 'answer',
    members: ['category', 'allowedCudaVersions'],
    why: 'not on its page yet; the API and the command line have it',
  },
  { surface: 'console', noun: 'host', side: 'answer', members: ['linkReplacements', 'runtimes'], why: 'for diagnosis: the command line' },
  {
    surface: 'console',
    noun: 'job',
    side: 'request',
    members: ['webhook', 'policy', 's3Config'],
    why: 'a job that is tried in the console has an input alone',
  },
  {
    surface: 'cli',
    noun: 'pod',
    side: 'request',
    members: ['args', 'entrypoint', 'registry', 'cloud', 'globalNetworking', 'onHostLoss', 'startJupyter', 'locked'],
    why: FEW_SET,
  },
  {
    surface: 'cli',
    noun: 'endpoint',
    side: 'request',
    members: ['args', 'cmd', 'entrypoint', 'disk', 'ports', 'registry', 'dataCenterIds', 'networkVolumes', 'cloud'],
    why: FEW_SET,
  },
  { surface: 'cli', noun: 'endpoint', side: 'request', members: ['flashboot', 'resultRetention', 'scaling', 'timeout'], why: FEW_SET },
  { surface: 'cli', noun: 'job', side: 'request', members: ['policy', 's3Config'], why: 'few set it: `podplane api POST` has it' },
]
