import { z } from 'zod'

const usd = (description: string) => z.number().meta({ description, format: 'double' })

/** The cost of an item in a list (SPD-9). */
export const ListedSpend = z
  .object({
    perHour: usd('USD per hour as it is, with its disks.'),
    costSoFar: usd('USD charged for what runs of it since that started; 0 where nothing runs.'),
  })
  .meta({ id: 'ListedSpend', description: 'What it costs. Only in lists.', example: { perHour: 0.446849, costSoFar: 2.681094 } })
export type ListedSpend = z.infer<typeof ListedSpend>
