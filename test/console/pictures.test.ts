import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { router } from '../../src/console/app/router.tsx'
import { NAVIGATION, OPERATOR_NAVIGATION } from '../../src/console/shell/navigation.ts'
import { LABELS_FILE, outdatedLabels, readLabels, sourceTextsOf, writeLabels } from '../e2e/console/support/labels.ts'
import { pictureOf } from '../e2e/console/support/pictures.ts'

const DOCS = resolve(import.meta.dirname, '../../docs')
const MOST_BYTES = 40_000

it('[DEV-1] every page has a picture in docs/console.md, all pictures are small, and none shows a removed page', () => {
  const shown = [...readFileSync(join(DOCS, 'console.md'), 'utf8').matchAll(/\]\(images\/console\/([\w-]+)\.webp\)/g)].map(
    ([, name]) => name ?? '',
  )
  const pages = Object.keys(router.routesByPath).filter((path) => path !== '/')
  expect(pages.map(pictureOf).filter((name) => !shown.includes(name))).toEqual([])
  const files = readdirSync(join(DOCS, 'images/console')).filter((file) => file !== LABELS_FILE)
  expect(files.toSorted()).toEqual(shown.map((name) => `${name}.webp`).toSorted())
  expect(files.filter((file) => statSync(join(DOCS, 'images/console', file)).size > MOST_BYTES)).toEqual([])
})

it('[DEV-1] docs/console.md names each group and page of the menu as the menu does', () => {
  const document = readFileSync(join(DOCS, 'console.md'), 'utf8')
  const titles = [...NAVIGATION, OPERATOR_NAVIGATION].flatMap(({ title, items }) => [title, ...items.map((item) => item.title)])
  expect(titles.filter((title) => !new RegExp(`(?<![\\w/-])${title}(?![\\w-])`).test(document))).toEqual([])
})

const labeled = () => readLabels(readFileSync(join(DOCS, 'images/console', LABELS_FILE), 'utf8'))

it('[DEV-1] the sources of each page contain the labels that its picture shows; after a change, run npm run pictures', () => {
  const pictures = readdirSync(join(DOCS, 'images/console')).filter((file) => file !== LABELS_FILE)
  expect(
    labeled()
      .map(({ name }) => `${name}.webp`)
      .toSorted(),
  ).toEqual(pictures.toSorted())
  expect(labeled().filter(({ labels }) => labels.length === 0)).toEqual([])
  expect(outdatedLabels(labeled(), sourceTextsOf)).toEqual([])
})

it('[DEV-1] a renamed label is found on the pages that show it, and the labels file is read as it was written', () => {
  const pictures = labeled()
  expect(readLabels(writeLabels(pictures))).toEqual(pictures)
  const renamed = (route: string) => new Set([...sourceTextsOf(route)].filter((text) => text !== 'Current spend'))
  expect(outdatedLabels(pictures, renamed)).toEqual(['phone-usage: Current spend', 'usage: Current spend'])
})
