#include "common/metric/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/hash.h"

int pfr_commands_init(struct pfr_commands *commands)
{
    memset(commands, 0, sizeof(*commands));
    commands->list = calloc(PFR_COMMANDS_MAX, sizeof(*commands->list));
    if (!commands->list)
        return -ENOMEM;
    snprintf(commands->list[0].name, PFR_COMM_SIZE, "(other)");
    commands->count = 1;
    return 0;
}

void pfr_commands_release(struct pfr_commands *commands)
{
    free(commands->list);
    commands->list = NULL;
}

uint32_t pfr_commands_find(struct pfr_commands *commands, const char *name)
{
    uint32_t cells = PFR_COUNT(commands->index), cell = pfr_hash_text(name) % cells;

    while (commands->index[cell]) {
        uint32_t entry = commands->index[cell] - 1u;

        if (strcmp(commands->list[entry].name, name) == 0)
            return entry;
        cell = (cell + 1) % cells;
    }
    if (commands->count == PFR_COMMANDS_MAX)
        return 0;
    commands->index[cell] = (uint16_t)(commands->count + 1);
    snprintf(commands->list[commands->count].name, PFR_COMM_SIZE, "%s", name);
    return commands->count++;
}

void pfr_commands_end_sample(struct pfr_commands *commands)
{
    for (uint32_t i = 0; i < commands->count; i++) {
        struct pfr_command *command = &commands->list[i];

        if (command->rss_now > command->window.rss)
            command->window.rss = command->rss_now;
        if (command->rss_now > command->run.rss)
            command->run.rss = command->rss_now;
        command->rss_now = 0;
    }
}

static void report(const struct pfr_command *command, struct pfr_instances *instances, int64_t to)
{
    const struct { enum pfr_metric_id id; int64_t value; } values[] = {
        { PFR_COMMAND_PROCESSES, command->run.processes },
        { PFR_COMMAND_CPU_SECONDS, command->run.cpu },
        { PFR_COMMAND_CHILDREN_CPU_SECONDS, command->run.children },
        { PFR_COMMAND_RSS_TOTAL, command->window.rss },
        { PFR_COMMAND_RSS_LARGEST, command->window.largest },
        { PFR_COMMAND_READ_BYTES, command->run.read },
        { PFR_COMMAND_WRITE_BYTES, command->run.write },
    };

    for (size_t i = 0; i < PFR_COUNT(values); i++)
        pfr_instance_set(instances, command->slot, values[i].id, values[i].value, to);
}

void pfr_commands_report(struct pfr_commands *commands, struct pfr_instances *instances,
                         int64_t from, int64_t to)
{
    for (uint32_t i = 0; i < commands->count; i++) {
        struct pfr_command *command = &commands->list[i];
        bool active = command->window.processes || command->window.cpu ||
                      command->window.children || command->window.rss;

        if (active && !command->listed) {
            command->slot = pfr_instance_add(instances, PFR_SCOPE_COMMAND, command->name,
                                             command->name, from, true);
            command->listed = command->slot != PFR_SLOT_NONE;
        }
        if (active && command->listed)
            report(command, instances, to);
        else if (command->listed)
            pfr_instance_skip(instances, PFR_SCOPE_COMMAND, command->slot, to);
    }
}

void pfr_commands_end_window(struct pfr_commands *commands)
{
    for (uint32_t i = 0; i < commands->count; i++)
        commands->list[i].window = (struct pfr_command_sum){ 0 };
}
