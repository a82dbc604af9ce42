CREATE TABLE `spend_stops` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`saved_nanos_per_hour` integer NOT NULL,
	`items` text NOT NULL,
	`undone_at` integer,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `spend_stops_team_created` ON `spend_stops` (`team_id`,`created_at`);