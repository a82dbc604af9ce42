CREATE TABLE `usage_archives` (
	`id` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`team_id` text NOT NULL,
	`kind` text NOT NULL,
	`month_ms` integer NOT NULL,
	`rows` integer NOT NULL,
	`bytes` integer NOT NULL,
	`sha256` text NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer NOT NULL,
	`changed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `usage_archives_team` ON `usage_archives` (`team_id`,`kind`,`ended_at`) WHERE "usage_archives"."state" = 'STORED';--> statement-breakpoint
CREATE INDEX `usage_archives_ended` ON `usage_archives` (`ended_at`) WHERE "usage_archives"."state" = 'STORED';--> statement-breakpoint
CREATE INDEX `usage_archives_changed` ON `usage_archives` (`state`,`changed_at`) WHERE "usage_archives"."state" <> 'STORED';