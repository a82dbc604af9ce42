import { paths } from '../hooks/paths.ts'

/** A link of the navigation; `to` is its address in the console. */
export interface NavigationItem {
  title: string
  to: string
}

interface NavigationGroup {
  title: string
  items: readonly NavigationItem[]
}

/** Navigation at the side of every page, most used groups first. */
export const NAVIGATION: readonly NavigationGroup[] = [
  {
    title: 'Run',
    items: [
      { title: 'Home', to: paths.home() },
      { title: 'Pods', to: paths.pods() },
      { title: 'Endpoints', to: paths.endpoints() },
      { title: 'Jobs', to: paths.jobs() },
      { title: 'Clusters', to: paths.clusters() },
      { title: 'Logs', to: paths.logs() },
      { title: 'Usage', to: paths.usage() },
    ],
  },
  {
    title: 'Storage',
    items: [
      { title: 'Volumes', to: paths.volumes() },
      { title: 'Templates', to: paths.templates() },
      { title: 'Registries', to: paths.registries() },
      { title: 'Secrets', to: paths.secrets() },
    ],
  },
  {
    title: 'Account',
    items: [
      { title: 'API keys', to: paths.keys() },
      { title: 'SSH keys', to: paths.sshKeys() },
      { title: 'Team', to: paths.team() },
      { title: 'Webhooks', to: paths.webhooks() },
      { title: 'Audit', to: paths.audit() },
    ],
  },
]

/** Navigation group that only operators see. */
export const OPERATOR_NAVIGATION: NavigationGroup = {
  title: 'Operate',
  items: [
    { title: 'Hosts', to: paths.hosts() },
    { title: 'Waiting', to: paths.waiting() },
    { title: 'Accounts', to: paths.accounts() },
    { title: 'Catalog', to: paths.catalog() },
    { title: 'Plane', to: paths.plane() },
  ],
}
