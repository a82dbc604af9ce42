import type { z } from 'zod'
import { Cluster, CreateClusterRequest, UpdateClusterRequest } from '../../../src/contract/clusters/clusters.ts'
import { CreateEndpointRequest, Endpoint, UpdateEndpointRequest } from '../../../src/contract/endpoints/endpoints.ts'
import { CreateJoinTokenRequest, Host } from '../../../src/contract/hosts/hosts.ts'
import { JobRecord, SubmitJobRequest } from '../../../src/contract/jobs/jobs.ts'
import { CreatePodRequest, Pod, UpdatePodRequest } from '../../../src/contract/pods/pods.ts'
import { CreateNetworkVolumeRequest, NetworkVolume, UpdateNetworkVolumeRequest } from '../../../src/contract/resources/network-volumes.ts'
import { CreateTemplateRequest, Template, UpdateTemplateRequest } from '../../../src/contract/resources/templates.ts'

/** Where each surface states the members of a noun. */
export interface Noun {
  /** Schemas of its requests and its answer, by their names in the documents. */
  requests: Readonly<Record<string, z.ZodObject>>
  answer: Readonly<Record<string, z.ZodObject>>
  /** Types of the published GraphQL schema; absent: GraphQL does not have the noun. */
  graphql?: { inputs: readonly string[]; types: readonly string[] }
  /** Sources of the console that request and show it, as glob patterns below src/console. */
  console: { requests: readonly string[]; answer: readonly string[] }
  /** Sources of the command line with flags of its own; absent: requests are `--body` or `--set` alone. */
  cli?: readonly string[]
}

const CONTAINER = 'parts/container/*.ts*'
const HARDWARE = 'parts/hardware/*.ts*'

export const NOUNS = {
  pod: {
    requests: { CreatePodRequest, UpdatePodRequest },
    answer: { Pod },
    graphql: { inputs: ['PodFindAndDeployOnDemandInput', 'DeployCpuPodInput', 'PodEditJobInput'], types: ['Pod', 'PodMachineInfo'] },
    console: { requests: ['pages/pods/**/*.ts*', CONTAINER], answer: ['pages/pods/**/*.ts*', CONTAINER] },
    cli: ['pods/new-pod.ts', 'pods/actions.ts'],
  },
  endpoint: {
    requests: { CreateEndpointRequest, UpdateEndpointRequest },
    answer: { Endpoint },
    graphql: { inputs: ['EndpointInput', 'EndpointTemplateInput', 'UpdateEndpointTemplateInput'], types: ['Endpoint'] },
    console: {
      requests: ['pages/endpoints/**/*.ts*', CONTAINER, HARDWARE],
      answer: ['pages/endpoints/**/*.ts*', CONTAINER, HARDWARE],
    },
    cli: ['endpoints/new-endpoint.ts', 'endpoints/change.ts'],
  },
  cluster: {
    requests: { CreateClusterRequest, UpdateClusterRequest },
    answer: { Cluster },
    graphql: { inputs: ['CreateClusterInput'], types: ['Cluster'] },
    console: { requests: ['pages/clusters/*.ts*', CONTAINER], answer: ['pages/clusters/*.ts*'] },
  },
  volume: {
    requests: { CreateNetworkVolumeRequest, UpdateNetworkVolumeRequest },
    answer: { NetworkVolume },
    graphql: { inputs: ['CreateNetworkVolumeInput', 'UpdateNetworkVolumeInput'], types: ['NetworkVolume'] },
    console: { requests: ['pages/resources/volumes.tsx'], answer: ['pages/resources/volumes.tsx'] },
  },
  template: {
    requests: { CreateTemplateRequest, UpdateTemplateRequest },
    answer: { Template },
    graphql: { inputs: ['SaveTemplateInput'], types: ['PodTemplate'] },
    console: { requests: ['pages/resources/template*.ts*', CONTAINER], answer: ['pages/resources/template*.ts*', CONTAINER] },
  },
  host: {
    requests: { CreateJoinTokenRequest },
    answer: { Host },
    console: { requests: ['pages/operator/add-machine.tsx'], answer: ['pages/operator/host*.tsx', 'pages/operator/amounts.tsx'] },
  },
  job: {
    requests: { SubmitJobRequest },
    answer: { JobRecord },
    console: { requests: ['pages/endpoints/try/*.ts*'], answer: ['pages/jobs/**/*.ts*', 'pages/endpoints/try/*.ts*'] },
    cli: ['jobs/run-job.ts'],
  },
} satisfies Readonly<Record<string, Noun>>
export type NounName = keyof typeof NOUNS
