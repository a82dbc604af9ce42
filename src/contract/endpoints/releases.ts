import { z } from 'zod'
import { Timestamp } from '../fields.ts'
import { MAX_PAGE_SIZE, PageQuery, Pagination } from '../pagination.ts'
import { queryInteger } from '../query-values.ts'

const Count = z.number().int().min(0)
/** Largest page of builds; other lists have larger pages (PAG-2). */
const MAX_BUILDS = 100

const ReleaseChange = z
  .object({
    field: z.string(),
    old: z.unknown().meta({ description: 'Raw JSON; null when the field was added.' }),
    new: z.unknown().meta({ description: 'Raw JSON; null when the field was removed.' }),
  })
  // The schema library treats a member of unknown type as optional; these members are always present.
  .meta({
    id: 'ReleaseChange',
    required: ['field', 'old', 'new'],
    example: { field: 'template.imageName', old: 'acme/model:1', new: 'acme/model:2' },
  })

const RELEASE = {
  id: '4k8h2m9x7q1w3e',
  version: 1,
  source: 'MANUAL',
  buildId: null,
  createdByUserId: 'n2k8h4m9x7q1w3',
  workerCount: 2,
  createdAt: '2026-06-01T12:00:00Z',
  diff: [],
}

/** A release of an endpoint (END-14). */
export const Release = z
  .object({
    id: z.string(),
    version: z.number().int(),
    source: z.enum(['MANUAL', 'GIT_BUILD']),
    buildId: z.string().nullable(),
    createdByUserId: z.string().nullable(),
    workerCount: Count.meta({ description: 'Number of workers that run it now.' }),
    createdAt: Timestamp,
    diff: z.array(ReleaseChange),
  })
  .meta({
    id: 'Release',
    example: RELEASE,
  })
export type Release = z.infer<typeof Release>

const ROLLOUT = { inProgress: true, workersOnLatest: 1, workersTotal: 2, percentOnLatest: 50 }

export const Rollout = z
  .object({
    inProgress: z.boolean(),
    workersOnLatest: Count,
    workersTotal: Count,
    percentOnLatest: z.number().int().min(0).max(100).meta({ description: '0 without workers.' }),
  })
  .meta({ id: 'Rollout', example: ROLLOUT })
export type Rollout = z.infer<typeof Rollout>

export const ListReleasesResponse = z
  .object({
    endpointVersion: z.number().int(),
    rollout: Rollout.meta({ description: 'The current state, independent of the page.' }),
    releases: z.array(Release),
    pagination: Pagination,
  })
  .meta({
    id: 'ListReleasesResponse',
    example: { endpointVersion: 1, rollout: ROLLOUT, releases: [RELEASE], pagination: { nextCursor: null, hasNextPage: false } },
  })
export type ListReleasesResponse = z.infer<typeof ListReleasesResponse>

/** END-15: the plane builds no images, so this list is empty and no cursor of it exists. */
export const BuildsQuery = PageQuery.extend({
  limit: queryInteger(1, MAX_BUILDS, MAX_BUILDS).meta({
    description: `Page size; at most ${MAX_BUILDS}, unlike the ${MAX_PAGE_SIZE} of other lists.`,
    param: { name: 'limit', in: 'query' },
  }),
})

const Build = z
  .object({
    id: z.string(),
    status: z.enum(['PENDING', 'BUILDING', 'UPLOADING', 'TESTING', 'COMPLETED', 'FAILED', 'CANCELLED', 'TEST_FAILED']),
    commitHash: z.string().nullable(),
    commitMessage: z.string().nullable(),
    branch: z.string().nullable(),
    commitDate: Timestamp.nullable(),
    imageName: z.string().nullable(),
    startedAt: Timestamp.nullable(),
    completedAt: Timestamp.nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'Build' })

export const ListBuildsResponse = z
  .object({ builds: z.array(Build), pagination: Pagination })
  .meta({ id: 'ListBuildsResponse', example: { builds: [], pagination: { nextCursor: null, hasNextPage: false } } })
