import { paths } from '../hooks/paths.ts'

/** A link of the navigation; `to` is its address in the console. */
export interface NavigationItem {
  title: string
  to: string
  /** Scope without which the page has nothing to show; left out where the page has something for every role. */
  needs?: string
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
      { title: 'Pods', to: paths.pods(), needs: 'pods:read' },
      { title: 'Endpoints', to: paths.endpoints(), needs: 'serverless:read' },
      { title: 'Jobs', to: paths.jobs(), needs: 'serverless:read' },
      { title: 'Clusters', to: paths.clusters(), needs: 'clusters:read' },
      { title: 'Logs', to: paths.logs(), needs: 'pods:read' },
      { title: 'Usage', to: paths.usage() },
    ],
  },
  {
    title: 'Storage',
    items: [
      { title: 'Volumes', to: paths.volumes(), needs: 'volumes:read' },
      { title: 'Templates', to: paths.templates(), needs: 'templates:read' },
      { title: 'Registries', to: paths.registries(), needs: 'registries:read' },
      { title: 'Secrets', to: paths.secrets(), needs: 'account:read' },
    ],
  },
  {
    title: 'Account',
    items: [
      { title: 'API keys', to: paths.keys() },
      { title: 'SSH keys', to: paths.sshKeys(), needs: 'account:read' },
      { title: 'Team', to: paths.team(), needs: 'organizations:read' },
      { title: 'Webhooks', to: paths.webhooks(), needs: 'jobs:read' },
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
