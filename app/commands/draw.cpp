#include "app/cli/command_line.h"
#include "app/commands/loading.h"
#include "app/console/console.h"
#include "app/view/shown_window.h"
#include "data/core/errors.h"
#include "data/picture/digit_image.h"
#include "data/vectors/sets.h"

namespace knn {

int draw(const Options& options, Clock::time_point) {
    check_window("; classify reads pictures without one");
    const DataLocation location = locate_training_data(options.data);
    note(data_notice(location, true));
    LoadedTraining training = load_for_digits(location, options);
    constexpr int sizes = 2;  // of a digit
    const DigitSearch search(training, options, sizes);
    const ProgressToken token = stoppable();

    PictureAnswers answers;
    answers.train = training.set.images();
    answers.labels = training.set.labels();
    answers.method = options.method;
    show_pad(answers, [&](const Picture& picture) {
        Answer answer;
        try {
            answer.image = extract_digit(picture);
        } catch (const DataError& error) {  // scribbled over and over
            answer.image.refused = error.what();
        }
        if (options.classify.reject) answer.reason = answer.image.refused;
        Answer* const digits[] = {&answer};
        if (answer.reason.empty()) search.answer(digits, token);
        return answer;
    });
    return 0;
}

}  // namespace knn
