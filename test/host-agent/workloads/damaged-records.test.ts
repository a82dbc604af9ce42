import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newRecord, WorkloadRecords } from '../../../src/host-agent/workloads/records.ts'
import { tempDir } from '../support/temp-dir.ts'

test('[DUR-5] a damaged record of a workload is named and removed, the others stay; a draft is not a record', () => {
  const dir = tempDir('records')
  new WorkloadRecords(dir, 0).save(newRecord('p-1', 'pod'))
  writeFileSync(join(dir, 'p-2.json'), '')
  writeFileSync(join(dir, 'p-3.json.draft'), '{')
  const records = new WorkloadRecords(dir, 0)
  expect(records.damaged).toEqual([join(dir, 'p-2.json')])
  expect(records.all().map(({ id }) => id)).toEqual(['p-1'])
  expect(readdirSync(dir)).toEqual(['p-1.json'])
})
